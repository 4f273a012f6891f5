"""The columns of a table of stops: what each is called by the people who keep such tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from unicodedata import combining, normalize

from fairway.problems.files.text import Unreadable, shortened

MOST_COLUMNS = 1_000

SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": (
        *("no", "nr", "number", "#", "stop #", "stop no", "stop number", "node"),
        *("stop id", "order id", "customer id", "job id"),
    ),
    "name": (
        *("stop", "stop name", "customer", "customer name", "client", "client name", "site"),
        "site name",
        *("location name", "visit name"),
    ),
    "x": ("xcoord", "x coord", "x coordinate", "easting"),
    "y": ("ycoord", "y coord", "y coordinate", "northing"),
    "lat": ("latitude",),
    "lon": ("lng", "long", "longitude"),
    "coordinates": (
        *("coords", "gps", "gps coordinates", "lat lon", "lat lng", "lat long", "latlon", "latlng"),
        *("lat/lon", "lat/lng", "lat,lon", "lat, lon", "lat, lng", "latitude longitude"),
        *("latitude/longitude", "latitude, longitude", "koordinaten", "coordonnees"),
    ),
    "open": (
        *(
            "opens",
            "opening",
            "from",
            "earliest",
            "ready",
            "ready time",
            "not before",
            "start time",
        ),
        *("window start", "time window start", "tw start", "earliest start", "opening time"),
        *("earliest arrival", "arrive after", "available from"),
    ),
    "close": (
        *(
            "closes",
            "closing",
            "to",
            "until",
            "due",
            "due time",
            "due date",
            "not after",
            "end time",
        ),
        *("window end", "time window end", "tw end", "deadline", "closing time"),
        *("latest arrival", "arrive before", "available until"),
    ),
    "windows": (
        *("window", "time window", "time windows", "opening hours", "hours", "slot", "slots", "tw"),
        *("delivery window", "availability"),
    ),
    "service": (
        *(
            "duration",
            "service time",
            "service duration",
            "stop time",
            "stop duration",
            "visit time",
        ),
        *("dwell", "dwell time", "handling time", "minutes", "service minutes", "service min"),
    ),
    "late": ("late price", "lateness price", "price of lateness", "late cost", "late penalty"),
    "latest": ("last start", "latest start", "late until"),
    "demand": ("load", "amount", "weight", "quantity", "qty", "volume", "parcels", "units", "kg"),
    "draft": ("draft limit", "max load", "maximum load", "load limit"),
    "capacity": ("vehicle capacity", "truck capacity"),
    "speed": ("speed km/h", "km/h", "kmh"),
    "prize": ("skip price", "price of skipping", "drop price", "penalty", "score", "profit"),
    "priority": ("prio", "importance"),
    "before": ("comes before",),
    "after": ("only after", "comes after", "depends on", "follows"),
    "pickup": ("pickup at", "pick up at", "collect at", "collect from", "pickup from", "pickup id"),
    "delivery": ("deliver to", "delivery to", "drop at", "dropoff", "drop off", "delivery id"),
    "kind": ("type", "role", "stop type"),
    "end": ("end here", "ends here", "finish"),
}
"""The columns that mean something, each with what else it may be called; any other column is carried along."""
HARMLESS = (
    *(
        "address",
        "street",
        "city",
        "town",
        "state",
        "zip",
        "postcode",
        "postal code",
        "country",
        "region",
    ),
    *(
        "phone",
        "tel",
        "telephone",
        "mobile",
        "email",
        "contact",
        "note",
        "notes",
        "comment",
        "comments",
    ),
    *(
        "description",
        "remark",
        "remarks",
        "reference",
        "ref",
        "code",
        "date",
        "price",
        "product",
        "driver",
        *("delivery date", "delivered", "first name", "location", "gate", "rate", "altitude"),
        *("language", "lang", "adres", "preis", "lager", "stadt", "pays"),
    ),
)
"""Common further columns, never taken for misspelt ones."""
FOREIGN: dict[str, tuple[str, ...]] = {
    "id": ("nummer", "auftrag", "auftragsnummer", "numero"),
    "name": (
        *("kunde", "kundenname", "bezeichnung", "nom", "arret", "nombre", "cliente", "parada"),
        *("nome", "klant", "klantnaam", "naam"),
    ),
    "lat": ("breite", "breitengrad", "latitud", "latitudine", "breedtegraad"),
    "lon": (
        *("lange", "laenge", "langengrad", "laengengrad", "longitud", "longitudine"),
        "lengtegraad",
    ),
    "open": (
        *("von", "ab", "beginn", "debut", "ouverture", "desde", "inicio", "apertura"),
        *("vanaf", "abertura"),
    ),
    "close": (
        *("bis", "ende", "fin", "fermeture", "hasta", "cierre"),
        *("chiusura", "einde", "fim"),
    ),
    "windows": (
        *("zeitfenster", "fenster", "offnungszeiten", "oeffnungszeiten", "creneau", "creneaux"),
        *("horaire", "horaires", "horario", "horarios", "ventana", "ventana horaria"),
        *("orario", "orari", "fascia oraria", "tijdvenster", "tijdvak", "janela"),
    ),
    "service": (
        *("dauer", "standzeit", "servicezeit", "duree", "duracion", "servicio", "minuten"),
        *("durata", "duur", "duracao"),
    ),
    "demand": (
        *("menge", "gewicht", "pakete", "quantite", "poids", "colis", "cantidad", "peso"),
        *("quantita", "colli", "aantal", "quantidade"),
    ),
    "capacity": ("kapazitat", "kapazitaet", "capacite", "capacidad", "capacita", "capaciteit"),
    "speed": ("geschwindigkeit", "vitesse", "velocidad", "velocita", "snelheid", "velocidade"),
    "priority": (
        *("prioritat", "prioritaet", "priorite", "prioridad", "priorita", "prioriteit"),
        "prioridade",
    ),
    "before": ("vor", "avant", "antes de"),
    "after": ("nach", "apres", "despues de"),
    "kind": ("typ", "art", "tipo"),
}
"""What these are called in German, French, Spanish, Italian, Dutch and Portuguese, without accents."""
BESIDE = (("start", "end"), ("van", "tot"), ("dalle", "alle"), ("inizio", "fine"))
"""Heads of a window that mean it only beside one another: a van may be a vehicle."""
SEVERAL = "all windows of a stop in one column 'windows', in cells like 08:00-10:00; 14:00-16:00"
"""What to do instead of giving a window's column twice."""
CANONICAL = {
    other: name
    for name, others in SYNONYMS.items()
    for other in (name, *others, *FOREIGN.get(name, ()))
}
PLACES = (("x", "y"), ("lat", "lon"))
NAMED = ("id", "name")
ALIKE = 0.8
"""How much of a column's name must agree with a known one for it to be taken for misspelt."""
UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sek", "sekunden"), 1.0 / 60.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten"), 1.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunden"), 60.0),
}
"""Minutes of the units of durations."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where each known column stands, and the further ones by the names they have."""

    known: dict[str, int]
    further: dict[str, int]
    unit: float | None = None
    """Minutes of the unit of service, where the name of its column says one."""


def plain(cell: str) -> str:
    """The name of a column as it is compared: in small letters, with single blanks, without what is in brackets."""
    words = cell.partition("(")[0].partition("[")[0] or cell
    words = "".join(each for each in normalize("NFKD", words) if not combining(each))
    return " ".join(words.replace("_", " ").replace("-", " ").strip('"').lower().split())


def minutes_of(cell: str) -> float | None:
    """Minutes of the unit that the name of a column of durations ends with, as in "service (s)"; None without one."""
    words = re.findall(r"[a-z]+", cell.lower())
    return UNITS.get(words[-1]) if words else None


def known_columns(cells: Sequence[str]) -> set[str]:
    """Which of the columns that mean something are named."""
    return {CANONICAL[name] for name in map(plain, cells) if name in CANONICAL}


def header_of(cells: Sequence[str], line: int) -> Header:
    """The columns of a header; one that is misspelt, given twice or missing is refused."""
    if len(cells) > MOST_COLUMNS:
        raise Unreadable(f"has {len(cells)} columns; expected at most {MOST_COLUMNS}", line)
    names = [plain(cell) for cell in cells]
    known: dict[str, int] = {}
    further: dict[str, int] = {}
    for at, (cell, name) in enumerate(zip(cells, names, strict=True)):
        column = _canonical(name, names)
        if column is None:
            if name:
                _check_spelling(name, line)
                further[_distinct(cell.strip(), further)] = at
        elif column in NAMED and at != _main(column, names):  # what else it is called
            further[_distinct(cell.strip(), further)] = at
        elif column in known:
            first = cells[known[column]].strip()
            remedy = f", or {SEVERAL}" if column in ("open", "close") else ""
            raise Unreadable(
                f"columns {shortened(first)} and {shortened(cell.strip())} both say {column!r}; expected one of them"
                f"{remedy}",
                line,
            )
        else:
            known[column] = at
    if "kind" in known:  # most of what it says is for people
        further[_distinct(cells[known["kind"]].strip(), further)] = known["kind"]
    unit = minutes_of(cells[known["service"]]) if "service" in known else None
    return Header(known, further, unit)


def check_places(header: Header, line: int, *, matrix: bool) -> None:
    """Refuse a table whose stops have no names, or no places where there is no matrix beside it."""
    found = header.known
    if not any(column in found for column in NAMED):
        raise Unreadable(
            "column 'name' or 'id' is missing; expected one that says what a stop is called", line
        )
    for pair in PLACES:
        for column, other in (pair, pair[::-1]):
            if column in found and other not in found:
                raise Unreadable(
                    f"column {other!r} is missing; expected it beside {column!r}", line
                )
    pairs = [pair for pair in PLACES if pair[0] in found]
    if not pairs and not matrix:
        raise Unreadable(
            "columns 'lat' and 'lon', or 'x' and 'y', are missing; expected them, or a matrix of travel times "
            "beside the stops (--matrix)",
            line,
        )
    if len(pairs) == len(PLACES):
        raise Unreadable("there are both x, y and lat, lon; expected one of these pairs", line)


def _canonical(name: str, names: Sequence[str]) -> str | None:
    """What a column means; "latest" closes a window where nothing else does."""
    column = CANONICAL.get(name)
    if column is None and minutes_of(name) is not None:  # such as "service time s"
        column = "service" if CANONICAL.get(name.rpartition(" ")[0]) == "service" else None
    for first, last in BESIDE:
        if name in (first, last) and {first, last} <= set(names):
            return "open" if name == first else "close"
    if name == "latest" and not any(CANONICAL.get(each) in ("close", "windows") for each in names):
        return "close"
    return column


def _main(column: str, names: Sequence[str]) -> int:
    """Which of several columns says what stops are called: the one of that very name, else the first but for "stop"."""
    found = [at for at, name in enumerate(names) if CANONICAL.get(name) == column]
    return min(found, key=lambda at: (names[at] != column, names[at] == "stop", at))


def _check_spelling(name: str, line: int) -> None:
    if len(name) <= 3 or name in HARMLESS:
        return
    if re.fullmatch(r"(\D+?) ?\d", name) and CANONICAL.get(name[:-1].strip()) in ("open", "close"):
        raise Unreadable(
            f"column {shortened(name)} is that of another window; expected {SEVERAL}",
            line,
        )
    swapped = [other for other in CANONICAL if sorted(other) == sorted(name)]
    if alike := swapped or get_close_matches(name, CANONICAL, n=1, cutoff=ALIKE):
        raise Unreadable(
            f"column {shortened(name)} is unknown, and looks like {alike[0]!r}; correct it, or give it another name "
            "if it is only to be carried along",
            line,
        )


def _distinct(name: str, taken: dict[str, int]) -> str:
    """The name, numbered where it is there already."""
    number = 2
    while name in taken:
        name, number = f"{name.rpartition(' ')[0] if number > 2 else name} {number}", number + 1
    return name
