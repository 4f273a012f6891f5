"""Solvers by others behind one signature: an instance and a budget in, a tour or None out.

They run in one thread, and none of them is needed: each is looked for when it is called. What they return has not
been judged; they reckon in whole numbers (`whole`), we do not.
"""
