"""The HTTP service: instances in, verified plans out, solved in worker processes (extra `serve`).

- `server`: the verb, from settings to a process that listens and ends cleanly
- `app`, `guard`, `bodies`: the endpoints, and what a request must pass before it gets there
- `jobs`, `store`: jobs from acceptance to expiry, kept in SQLite
- `pool`, `frames`, `worker`: worker processes, and how they are talked to
- `requests`, `responses`: what goes in and comes out, as the OpenAPI document has it
- `work`, `documents`: what a worker does, and the documents it writes
- `metrics`, `manual`: for machines that watch, and for people who read
- `page/`: the web page
"""
