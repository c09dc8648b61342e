"""Save a model to a file and go on later, as if it had never stopped.

A checkpoint is a zip in the layout of NumPy's ``.npz``: a member ``header``, JSON as
bytes, with the learner's name, its arguments and its step count; and one member for
every array among the arguments and in the state, packed to the atoms in use. Nothing
is pickled and nothing is imported by name: a file can only bring back the components
of halk. What is read is checked before it is believed.

Going on from a checkpoint gives the same bits as never having stopped.
"""

from halk.checkpoint.archive import FORMAT, VERSION
from halk.checkpoint.files import Saveable, load, save

__all__ = ["FORMAT", "VERSION", "Saveable", "load", "save"]
