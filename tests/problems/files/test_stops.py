"""Tables as dispatchers keep them: clock times, degrees, durations, further columns, orders and loads by names."""

import datetime
import math

import numpy as np
import pytest

from fairway.problems.distances import euclidean, great_circle
from fairway.problems.files import table
from fairway.problems.files.legs import Beside
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import Instance
from fairway.problems.source import Clock, Source

OSLO = """Customer,Address,Phone,Latitude,Longitude,From,To,Duration
Depot,Quay 1,555-1,59.91,10.75,07:30,17:00,
Mill,High St 12,555-2,59.93,10.70,08:30,10:00,0:15
"Baker, north",Low St 3,,59.95,10.80,1:00 pm,3:30 pm,10 min
School,,555-4,59.88,10.79,9.15,12.00,1h30
"""
SPEED = Beside(speed=40.0)


def parsed(text, beside=SPEED):
    assert table.recognises(text)
    return table.parse(text, "stem", None, beside)


def refused(text, beside=SPEED):
    with pytest.raises(Unreadable) as caught:
        parsed(text, beside)
    return caught.value


def test_a_dispatchers_table_is_read_in_minutes_since_midnight():
    instance = parsed(OSLO)
    assert instance.names == ("Depot", "Mill", "Baker, north", "School")
    assert instance.opens.tolist() == [450, 510, 780, 555]
    assert instance.closes.tolist() == [1020, 600, 930, 720]
    assert instance.service.tolist() == [0, 15, 10, 90]
    assert instance.source.clock.show(instance.opens[2]) == "13:00"


def test_travel_is_the_great_circle_at_the_speed_given():
    instance = parsed(OSLO)
    degrees = np.array([[10.75, 59.91], [10.70, 59.93], [10.80, 59.95], [10.79, 59.88]])
    assert np.array_equal(instance.coordinates, degrees)
    assert np.allclose(instance.travel, great_circle(degrees) / 40 * 60)
    assert instance.source.geographic
    assert instance.source.distance_unit == "km"
    kilometres = instance.source.distances(instance.travel, instance.cost)
    assert np.allclose(kilometres, great_circle(degrees))
    assert instance.problem == "tsptw"


def test_a_degree_of_latitude_is_what_it_is_on_the_mean_sphere():
    assert great_circle(np.array([[0.0, 0], [0, 1]]))[0, 1] == pytest.approx(111.195, abs=1e-3)
    paris_london = np.array([[2.3522, 48.8566], [-0.1276, 51.5072]])
    assert great_circle(paris_london)[0, 1] == pytest.approx(343.6, abs=0.5)


def test_further_columns_are_carried_along():
    columns = parsed(OSLO).source.columns
    assert columns["Address"] == ("Quay 1", "High St 12", "Low St 3", "")
    assert columns["Phone"] == ("555-1", "555-2", "", "555-4")
    assert list(columns) == ["Address", "Phone"]


def test_without_a_speed_or_a_matrix_one_sentence_asks_for_it():
    error = refused(OSLO, Beside())
    assert error.message == (
        "has latitudes and longitudes, and nothing says how fast one travels; give a speed in km/h (--speed 40), "
        "or a matrix of travel times (--matrix)"
    )


def test_a_speed_may_stand_in_the_row_of_the_depot():
    stated = OSLO.replace("Duration\n", "Duration,Speed\n").replace("17:00,", "17:00,,40")
    stated = "\n".join(
        row + "," * (8 - row.replace("r, n", "rn").count(",")) for row in stated.splitlines()
    )
    assert np.array_equal(parsed(stated, Beside()).travel, parsed(OSLO).travel)


@pytest.mark.parametrize(
    "name",
    ["sevice", "servcie", "lattitude", "longtitude", "windos", "demnd", "priorty", "clses", "opne"],
)
def test_a_misspelt_column_is_refused_with_the_likely_name(name):
    error = refused(f"name,lat,lon,{name}\nd,1,1,\na,2,2,\n")
    assert f"column '{name}' is unknown, and looks like " in error.message
    assert error.line == 1


@pytest.mark.parametrize(
    "name",
    [
        "state",
        "city",
        "notes",
        "e-mail",
        "colour",
        "driver",
        "price",
        "Ort",
        "Straße",
        "vehicle",
        "ETA",
        "date",
        "rate",
        "Adres",
        "Preis",
        "Delivery date",
        "First name",
        "Altitude",
        "Van",
        "Place",
        "Location",
        "Position",
    ],
)
def test_other_columns_are_not_taken_for_misspelt_ones(name):
    instance = parsed(f"name,lat,lon,{name}\nd,1,1,p\na,2,2,q\n")
    assert instance.source.columns == {name: ("p", "q")}


def test_semicolons_and_decimal_commas_of_european_spreadsheets_are_read():
    text = "Name;Lat;Lng;Ort;open;close;service\nd;59,91;10,75;x;8:00;17:00;\na;59,93;10,70;y;8.30;10,00;7,5\n"
    instance = parsed(text)
    assert instance.coordinates.tolist() == [[10.75, 59.91], [10.70, 59.93]]
    assert instance.opens.tolist() == [480, 510]
    assert instance.closes.tolist() == [1020, 600]
    assert instance.service.tolist() == [0, 7.5]
    assert np.array_equal(parsed(text.replace(";", "\t")).travel, instance.travel)


def test_several_windows_stand_in_one_cell():
    instance = parsed(
        "stop,lat,lon,time windows\nd,1,1,7:00-18:00\na,2,2,08:00-10:00; 14:00-16:00\nb,2,1,8 am to 11 am\n"
    )
    assert instance.windows == {0: ((420, 1080),), 1: ((480, 600), (840, 960)), 2: ((480, 660),)}


@pytest.mark.parametrize(
    ("cell", "windows"),
    [
        ("08:00-10:00", ((480, 600),)),
        ("08:00 \u2013 10:00", ((480, 600),)),
        ("8:00-10", ((480, 600),)),
        ("08:00-10:00, 14:00-", ((480, 600), (840, math.inf))),
        ("8 am - 1:30 pm", ((480, 810),)),
        ("8h30-10h", ((510, 600),)),
        ("day 1 22:00-day 2 02:00", ((1320, 1560),)),
        ("8am-10am & 2pm-4pm", ((480, 600), (840, 960))),
        ("after 9:00", ((540, math.inf),)),
        ("until 8; from 14:00", ((0, 480), (840, math.inf))),
        ("before 1 pm", ((0, 780),)),
    ],
)
def test_windows_are_written_as_people_do(cell, windows):
    instance = parsed(f'name,x,y,window,open\nd,0,0,,7:00\na,3,4,"{cell}",\n')
    assert instance.windows == {1: windows}


def test_stamps_of_several_days_count_from_the_first_midnight():
    text = "name,x,y,open,close\nd,0,0,2026-11-18T07:00,2026-11-20T18:00\na,3,4,2026-11-19T08:30,2026-11-19 10:00\n"
    instance = parsed(text, Beside())
    assert instance.opens.tolist() == [420, 1440 + 510]
    assert instance.closes.tolist() == [2 * 1440 + 1080, 1440 + 600]
    clock = instance.source.clock
    assert clock.origin == datetime.date(2026, 11, 18)
    assert clock.show(510) == "2026-11-18 08:30"
    error = refused(text.replace("2026-11-19 10:00", "10:00"), Beside())
    assert error.message.startswith("'10:00' has no date where other times are on several days")


def test_stamps_of_one_day_are_shown_without_it():
    day, next_day = "2026-11-18T", "2026-11-19T"
    text = f"name,x,y,open,close\nd,0,0,{day}07:00Z,{next_day}00:00Z\na,3,4,{day}09:30+01:00,{day}10:00Z\n"
    instance = parsed(text, Beside())
    assert instance.opens.tolist() == [420, 510]
    assert instance.source.clock.show(510) == "08:30"
    error = refused(text.replace("10:00Z", "10:00"), Beside())
    assert "differ in whether they have a time zone" in error.message


def test_plain_numbers_stay_plain_numbers():
    instance = parsed("id,x,y,open,close,service\nd,0,0,0,100,0\na,3,4,8.30,20,5\n", Beside())
    assert instance.opens.tolist() == [0, 8.3]
    assert instance.source is None


def test_a_window_over_midnight_asks_for_the_day():
    error = refused("name,x,y,open,close\nd,0,0,0:00,24:00\na,3,4,22:00,06:00\n")
    assert error.message == (
        "a window closes at 06:00 before it opens at 22:00; write the next day as 'day 2 06:00', or dates"
    )
    assert error.line == 3


@pytest.mark.parametrize(
    ("cell", "minutes"),
    [
        ("15", 15),
        ("0:15", 15),
        ("1h30", 90),
        ("1 h 30 min", 90),
        ("90 s", 1.5),
        ("PT15M", 15),
        ("PT1H30M", 90),
        ("10 Minuten", 10),
        ("1 Std. 5 min", 65),
    ],
)
def test_durations_are_minutes_or_written_out(cell, minutes):
    assert parsed(f"name,lat,lon,stop time\nd,1,1,\na,2,2,{cell}\n").service[1] == minutes


def test_orders_and_pairs_go_by_names_or_ids():
    text = "id,name,x,y,after,pickup,load\n1,Depot,0,0,,,\n2,Mill,3,4,,,3\n3,Quay,6,8,Mill,2,\n"
    text += '4,Dock,0,5,"Mill, Quay",,\n'
    instance = parsed(text, Beside())
    assert instance.before == ((1, 2), (1, 3), (2, 3))
    assert instance.pairs == ((1, 2),)
    assert instance.demand.tolist() == [0, 3, -3, 0]
    assert instance.load == "signed"
    assert instance.names == ("Depot", "Mill", "Quay", "Dock")
    assert instance.source.ids == ("1", "2", "3", "4")


def test_a_pair_may_be_told_from_both_sides():
    text = "name,x,y,pickup,deliver to\nd,0,0,,\na,3,4,,b\nb,6,8,a,\n"
    assert parsed(text, Beside()).pairs == ((1, 2),)


def test_names_that_repeat_are_told_apart_by_their_ids():
    instance = parsed("id,customer,x,y\n0,Depot,0,0\n7,Mill,3,4\n8,Mill,6,8\n", Beside())
    assert instance.names == ("Depot", "Mill (7)", "Mill (8)")
    assert (
        "the name 'Mill' is also on line 3"
        in refused("customer,x,y\nDepot,0,0\nMill,3,4\nMill,6,8\n").message
    )


def test_the_depot_is_the_row_that_says_so():
    text = "name,type,x,y,open\nMill,customer,3,4,5\nHome,Depot,0,0,1\nQuay,,6,8,7\n"
    instance = parsed(text, Beside())
    assert instance.names == ("Home", "Mill", "Quay")
    assert instance.opens.tolist() == [1, 5, 7]
    assert instance.travel[0].tolist() == [0, 5, 10]
    assert instance.source.columns == {"type": ("Depot", "customer", "")}
    again = refused(text.replace("customer", "depot"), Beside())
    assert "calls a second row depot; expected one depot" in again.message


def test_a_row_may_be_a_break_and_another_the_end():
    text = "name,kind,x,y,open,close,service\nd,,0,0,08:00,17:00,\nLunch,break,,,12:00,13:00,0:30\n"
    text += "a,,3,4,,,5\ng,end,6,8,,,\n"
    instance = parsed(text, Beside())
    assert instance.breaks == ((720, 780, 30),)
    assert instance.source.break_names == ("Lunch",)
    assert instance.names == ("d", "a", "g")
    assert instance.end == 2
    assert "expected how long it is" in refused(text.replace("0:30", ""), Beside()).message
    assert parsed("name,x,y,end\nd,0,0,anywhere\na,3,4,\n", Beside()).end is None


def test_a_break_that_ends_before_it_begins_is_refused_at_its_own_line():
    text = "name,kind,x,y,open,close,service\nd,,0,0,08:00,17:00,\na,,3,4,,,5\n"
    text += "Lunch,break,,,12:00,13:00,0:30\n" * 4 + "Tea,break,,,15:00,14:00,0:10\n"
    error = refused(text, Beside())
    assert error.message.startswith("a break is (900.0, 840.0, 10.0)")
    assert error.line == 8


def test_priorities_rank_plans_by_their_sum_then_by_the_number_of_stops():
    text = "name,x,y,priority\nd,0,0,\na,3,4,1\nb,6,8,2\nc,0,5,0\ne,0,9,must\nf,1,1,high\n"
    prize = parsed(text, Beside()).prize
    assert prize[0] == prize[4] == math.inf
    dearest = parsed(text, Beside()).cost.max() * 6
    assert prize[3] > dearest
    assert prize[1] > 5 * prize[3]
    assert prize[2] > prize[1] + prize[3]
    assert prize[5] > prize[2]
    both = "name,x,y,priority,prize\nd,0,0,,\na,3,4,1,2\n"
    assert (
        refused(both, Beside()).message
        == "there are both 'priority' and 'prize'; expected one of them"
    )


def test_the_capacity_stands_in_the_row_of_the_depot():
    text = "name,x,y,weight,capacity\nd,0,0,,10\na,3,4,7,\nb,6,8,2,\n"
    instance = parsed(text, Beside())
    assert instance.capacity == 10
    assert instance.demand.tolist() == [0, 7, 2]
    error = refused(text.replace("7,", "7,3"), Beside())
    assert (
        error.message
        == "column 'capacity' has '3' at a stop; expected it in the row of the depot alone"
    )


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (
            "name,lat,lon\nd,95,1\na,2,2\n",
            "the latitude 95 and longitude 1 are no place on earth",
            2,
        ),
        (
            "name,lat,lon,open\nd,1,1,8:00\na,2,2,8:75\n",
            "column 'open': expected a time of day like 08:30",
            3,
        ),
        ("name,lat,lon,open\nd,1,1,8:00\na,2,2,noon\n", "found 'noon'", 3),
        ("name,lat,lon,open\nd,1,1,8:00\na,2,2,480\n", "found '480'", 3),
        ("name,lat,lon,open\nd,1,1,2026-11-31T08:00\na,2,2,\n", "found '2026-11-31T08:00'", 2),
        (
            "name,lat,lon,window\nd,1,1,\na,2,2,8:00\n",
            "expected windows like 08:00-10:00; 14:00-16:00",
            3,
        ),
        ("name,lat,lon,after\nd,1,1,\na,2,2,q\n", "column 'after' names 'q', which is no stop", 3),
        (
            "name,lat,lon,service\nd,1,1,\na,2,2,long\n",
            "column 'service' has 'long'; expected a duration like 15, 0:15",
            3,
        ),
        (
            "name,lat,lon,priority\nd,1,1,\na,2,2,urgent\n",
            "the priority 'urgent' is not understood; expected 0 to 100, low",
            3,
        ),
        (
            "name,lat,lon,priority\nd,1,1,\na,2,2,300\n",
            "expected 0 to 100, low, medium, high or must",
            3,
        ),
        ("name,kind,lat,lon\nd,break,1,1\n", "every row is a break", 2),
        (
            "name,x,y,open\nd,1,1,0001-01-01T00:00+14:00\na,2,2,2026-11-18T08:00-05:00\n",
            "at the end of the calendar",
            2,
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, said, line):
    error = refused(text)
    assert said in error.message
    assert error.line == line


def test_what_a_table_says_besides_the_problem_comes_back_from_it():
    for text in (
        OSLO,
        "id,name,x,y,open,close,phone\n1,d,0,0,2026-11-18T08:00,2026-11-19T08:00,=1\n2,a,3,4,,,\n".replace(
            "=1", "1"
        ),
        "name,kind,x,y,open,close,service\nd,hub,0,0,08:00,17:00,\nLunch,break,,,12:00,13:00,0:30\na,shop,3,4,,,5\n",
    ):
        instance = parsed(text)
        again = table.parse(table.render(instance), "stem", None)
        assert again.source == instance.source
        assert np.array_equal(again.travel, instance.travel)
        assert np.array_equal(again.opens, instance.opens)
        assert again.breaks == instance.breaks
        assert again.names == instance.names


def test_a_further_column_that_a_spreadsheet_would_run_is_not_written():
    instance = parsed("name,x,y,note\nd,0,0,\na,3,4,=1+1\n", Beside())
    with pytest.raises(Unreadable, match=r"CSV cannot hold the text '=1\+1'; write .json instead"):
        table.render(instance)


@pytest.mark.parametrize(
    "text",
    [
        "Kunde;Breitengrad;L\u00e4ngengrad;von;bis;Dauer\nLager;52,5;13,4;7:00;18:00;\nM\u00fchle;52,6;13,4;8.30;10:00;15\n",
        "Nom;Latitude;Longitude;D\u00e9but;Fin;Dur\u00e9e\nD\u00e9p\u00f4t;52,5;13,4;7h00;18h00;\nMoulin;52,6;13,4;8h30;10h;15\n",
        "Nombre,Latitud,Longitud,Desde,Hasta,Duraci\u00f3n\nD,52.5,13.4,7:00,18:00,\nA,52.6,13.4,8:30,10:00,15\n",
        "Stop #,Name,Latitude,Longitude,Earliest Arrival,Latest Arrival,Service Duration (mins)\n"
        "1,D,52.5,13.4,7:00 AM,6:00 PM,\n2,A,52.6,13.4,8:30 AM,10:00 AM,15\n",
        "Tour on Monday,,,,,\n,,,,,\nname,lat,lon,open,close,service (s)\n"
        "D,52.5,13.4,07:00,18:00,\nA,52.6,13.4,08:30,10:00,900\n",
        "sep=|\nname|lat|lon|open|close|service_h\nD|52.5|13.4|07.00|18.00|\nA|52.6|13.4|08.30|10.00|0.25\n",
        "name;lat;lon;from;to;minutes\nD;52,5;13,4;18.11.2026 7:00;18.11.2026 18:00;\n"
        "A;52,6;13,4;18.11.2026 08:30;18.11.2026, 10:00;15 Min.\n",
        "Nome;Latitudine;Longitudine;Dalle;Alle;Durata\nDeposito;52,5;13,4;7:00;18:00;\nForno;52,6;13,4;8.30;10:00;15\n",
        "Klant;Adres;Breedtegraad;Lengtegraad;Van;Tot;Duur\nLoods;;52,5;13,4;7:00;18:00;\nBakker;;52,6;13,4;8.30;10:00;15\n",
        "Cliente;Latitude;Longitude;In\u00edcio;Fim;Dura\u00e7\u00e3o\nD;52,5;13,4;7:00;18:00;\nA;52,6;13,4;8h30;10h;15\n",
        "Kunde;Breite;L\u00e4nge;Von;Bis;Dauer\nD;52,5;13,4;7 Uhr;18:00 Uhr;\nA;52,6;13,4;8 Uhr 30;10 Uhr;15\n",
        "Nom;Latitude;Longitude;D\u00e9but;Fin;Dur\u00e9e\nD;52,5;13,4;7 h;18 h;\nA;52,6;13,4;8 h 30;10 h 00;0 h 15\n",
        'Name,GPS,From,To,Minutes\nD,"52.5, 13.4",7:00,18:00,\nA,"52.6,13.4",8:30,10:00,15\n',
        "Name,Lat,Lon,From,To,Minutes\nD,52\u00b030'N,13\u00b024'0\"E,7:00,18:00,\n"
        "A,N 52.6,13.4\u00b0 E,8:30,10:00,15\n",
        "Stop,Customer,Lat,Lon,From,To,Minutes\n1,D,52.5,13.4,7:00,18:00,\n2,A,52.6,13.4,8:30,10:00,15\n",
    ],
)
def test_tables_of_other_countries_and_programs_are_read(text):
    instance = parsed(text)
    assert instance.opens.tolist() == [420, 510]
    assert instance.closes.tolist() == [1080, 600]
    assert instance.service.tolist() == [0, 15]
    assert instance.coordinates.tolist() == [[13.4, 52.5], [13.4, 52.6]]


@pytest.mark.parametrize(
    "cell",
    [
        "08:00-10:00, 14:00-16:00",
        "08:00-10:00,14:00-16:00",
        "14:00-16:00; 08:00-10:00",
        "08:00-10:00 / 14:00-16:00",
        "8h-10:00\n14:00 - 16:00",
        "8-10 Uhr und 14:00 bis 16:00 Uhr",
        "von 8 Uhr bis 10 Uhr / 14-16 Uhr",
        "de 8h à 10h et 14 h - 16 h",
        "de 8:00 a 10:00; 14:00 hasta 16:00",
        "dalle 8:00 alle 10:00, dalle 14:00 alle 16:00",
    ],
)
def test_windows_stand_in_any_order_between_what_people_use(cell):
    instance = parsed(f'name,lat,lon,hours\nd,1,1,7:00-18:00\na,2,2,"{cell}"\n')
    assert instance.windows[1] == ((480, 600), (840, 960))


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (
            "name,lat,lon,hours\nd,1,1,\na,2,2,22:00-01:00\n",
            "which closes before it opens; write",
            3,
        ),
        ("name,lat,lon,hours\nd,1,1,\na,2,2,8:00-10:00; 9:00-11:00\n", "which overlap", 3),
        (
            "name,lat,lon,open,close,hours\nd,1,1,,,\na,2,2,8:00,9:00,14:00-16:00\n",
            "that differ",
            3,
        ),
        ("name,lat,lon,open\nd,1,1,11/12/2026 8:00\na,2,2,\n", "its day or its month first", 2),
        ("name,lat,lon,open,close\nd,1,1,7,18\na,2,2,8.30,10\n", "look like hours", 2),
        ("name,lat,lon,open,close\nd,1,1,0,64800\na,2,2,0,60\n", "look like seconds", 2),
        ("name,lat,lon,open1,close1\nd,1,1,,\na,2,2,,\n", "in one column 'windows'", 1),
        ("name,lat,lon,from,from\nd,1,1,,\na,2,2,,\n", "in one column 'windows'", 1),
        (
            "name,lat,lon\nDepot,1,1\na,2,2\nDepot,1,1\n",
            "leave this row out if it is the way back",
            4,
        ),
        ("name,lat,lon\nd,1,1\na,2,2\na,3,3\nb,1,2\n", "or give a column 'id'", 4),
        (
            "name,type,lat,lon\nd,,1,1\na,pickup,2,2\nb,delivery,3,3\n",
            "nothing says which belong together",
            4,
        ),
        ("name,lat,lon,service\nd,1,1,\nLunch,,,30\n", "but for breaks, whose 'kind' is break", 3),
        ("name,lat,lon,qty\nd,1,1,\na,2,2,4\nTotal,,,4\n", "leave out a last row of sums", 4),
        ("name,lat,lon,service\nd,1,1,\na,2,2,PT15\n", "a duration like 15, 0:15, 1h30", 3),
        (
            "name,lat,lon\nd,1 N,1 E\na,2 N,2 N\n",
            "column 'lon' has '2 N'; expected degrees like",
            3,
        ),
        ("name,lat,lon\nd,1°70'N,1\na,2,2\n", "expected degrees like 59.91, 59.91 N", 2),
        ('name,gps\nd,"1,1"\na,somewhere\n', "the place 'somewhere' is not understood", 3),
        (
            'name,gps,lat,lon\nd,"1,1",1,1\n',
            "both a column of places and columns of their parts",
            1,
        ),
        ('name,gps\nd,"1,1"\na,\n', "column 'lon' is blank", 3),
    ],
)
def test_what_would_be_read_wrongly_is_refused_with_what_would_do(text, said, line):
    error = refused(text)
    assert said in error.message
    assert error.line == line


def test_places_south_and_west_are_below_zero():
    instance = parsed("name,lat,lon\nd,33.5 S,70°30'W\na,-33.5,W 70.5\nb,S 33°30'00\",-70.5\n")
    assert instance.coordinates.tolist() == [[-70.5, -33.5]] * 3


def test_other_names_of_a_stop_are_carried_along_beside_the_one_that_counts():
    instance = parsed(
        "Order,Stop,Customer,Stop ID,Order ID,Lat,Lon\n9,1,d,s1,9,1,1\n9,2,a,s2,9,2,2\n"
    )
    assert instance.names == ("d", "a")
    assert instance.source.ids == ("s1", "s2")
    columns = instance.source.columns
    assert columns == {"Order": ("9", "9"), "Stop": ("1", "2"), "Order ID": ("9", "9")}


def test_a_further_column_with_times_of_day_is_told_where_there_are_no_windows():
    text = "name,lat,lon,Besuch,open\nd,1,1,,\na,2,2,8:30 bis 9:30 Uhr,\n"
    assert "column 'Besuch' holds times of day" in parsed(text).notes[0]
    assert parsed(text.replace("d,1,1,,", "d,1,1,,7:00")).unit_notes == ()
    assert parsed(text.replace("8:30 bis 9:30 Uhr", "555 100")).notes == ()


def test_a_column_of_several_days_beside_times_of_one_is_told():
    text = "date,name,lat,lon,open\n2026-11-18,d,1,1,8:00\n2026-11-19,a,2,2,9:00\n"
    assert "column 'date' tells several days apart" in parsed(text).unit_notes[0]
    assert parsed(text.replace("-19", "-18")).notes == ()
    assert parsed(text.replace("9:00", "").replace("8:00", "")).notes == ()


def test_latitudes_where_there_are_no_roads_are_told():
    swapped = "name,lat,lon\nDepot,-74.0,40.7\nMill,-73.9,40.8\n"
    assert "perhaps latitude and longitude are swapped" in parsed(swapped).unit_notes[0]
    assert parsed("name,lat,lon\nDepot,69.6,18.9\nMill,70.1,19.0\n").unit_notes == ()


def test_priorities_in_words_of_other_languages_rank_alike():
    text = "name,lat,lon,prio\nd,1,1,\na,2,2,{}\nb,2,1,{}\n"
    spoken = [parsed(text.format(*words)) for words in (("high", "low"), ("hoch", "niedrig"))]
    assert spoken[0].prize.tolist() == spoken[1].prize.tolist()


def test_a_clock_comes_back_from_a_table_without_a_window():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    instance = Instance(euclidean(points), coordinates=points, source=Source(Clock()))
    assert parsed(table.render(instance), Beside()).source == Source(Clock())
    early = Instance(euclidean(points), opens=[-5, 0], coordinates=points, source=Source(Clock()))
    with pytest.raises(Unreadable, match=r"cannot hold the time -5 as a time of day; write .json"):
        table.render(early)
