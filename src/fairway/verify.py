from fairway.judge import *  # temporary, removed by the lead
