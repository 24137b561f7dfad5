"""The mask doctor: reads masks as people have them, says what they mean, and finds what is wrong in them."""

from tfm_core.clinic.finding import Finding as Finding
from tfm_core.clinic.reader import read as read
from tfm_core.clinic.reader import reading_as as reading_as
from tfm_core.clinic.reading import Meaning as Meaning
from tfm_core.clinic.reading import Reading as Reading
