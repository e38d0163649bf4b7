"""Where every number of instruments lives: tables of the Plant, scratch of Work, their part of the State."""

from __future__ import annotations

from limberjack.engine.compile.kernel import formula
from limberjack.engine.tables.table import Family, Table

# counts at the head of Plant.ints
C_INSTRUMENTS, C_INSTRUMENT_STATE = 30, 31

# instrument_int (instruments, 8)
INSTRUMENT_INT = 8
NI_KIND = 0  # how it changes what it measures, below
NI_OUTPUT = 1  # first of its outputs
NI_SIZE = 2  # how many numbers of them carry errors: all but `valid`
NI_OUTPUTS = 3  # how many outputs
NI_STATE = 4  # first of its numbers in the State's part of instruments
NI_RING = 5  # samples that may be on their way; 0 without delay
NI_CHANNEL = 6  # number of its noise, of its name
NI_LEVEL = 7  # its inputs: motion, or accelerations and forces as well
MOTION, FORCES = 1, 2

# kinds: numbers one by one or as vectors of three; the two windings of a resolver; an attitude; a direction
PLAIN, RESOLVER, ATTITUDE, DIRECTION = range(4)

# instrument (instruments, 56)
INSTRUMENT, MOST_NUMBERS = 56, 6
N_RATE = 0  # samples a second; 0: every step
N_DELAY = 1  # s
N_WALK_TIME = 2  # correlation time of the wandering bias, s; 0: a random walk
N_WRAP = 3  # the reading is in [0, wrap), 0: not wrapped
N_PAIRS = 4  # resolver: pole pairs
N_IMBALANCE = 5  # resolver: amplitude of cosine over sine, less 1
N_QUADRATURE = 6  # resolver: angle by which the windings are not square, rad
N_BIAS = 8  # 6
N_NOISE = 14  # 6: standard deviation of a sample
N_WALK = 20  # 6: of the bias, unit/√s
N_LIMIT = 26  # 6: saturation
N_STEP = 32  # 6: resolution, 0: none
N_SCALE = 38  # 6: error of scale
N_R = 44  # 9: from the axes of the node to those of the instrument, for vectors

# surroundings (4,)
SUN, SEED = 0, 3  # 3: direction to the sun, inertial axes; seed of all noise

# State of one instrument: samples taken, samples shown, then what is shown (NI_OUTPUTS), the wandering part of the bias
# (NI_SIZE), and NI_RING rows of time at which a sample is shown, s, and the sample (NI_OUTPUTS)
I_TAKEN, I_SHOWN, I_HELD = 0, 1, 2

INSTRUMENTS = Family(
    "instruments",
    ints=(Table("instrument_int", "instruments", INSTRUMENT_INT),),
    floats=(Table("instrument", "instruments", INSTRUMENT), Table("surroundings", 4)),
    work=(
        Table("ideal", "outputs * (instruments > 0)"),  # values of the sensors without errors
        Table("new", "8 * (instruments > 0)"),  # a sample that is being taken
    ),
)


@formula
def instrument_size(outputs, size, ring):
    """Numbers of the State of an instrument."""
    return I_HELD + outputs + size + ring * (1 + outputs)
