from try_ import *
