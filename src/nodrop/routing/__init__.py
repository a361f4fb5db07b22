"""The control plane computed from the model: sessions, paths and failures."""

from nodrop.routing.control_plane import ControlPlane as ControlPlane
from nodrop.routing.control_plane import compute_control_plane as compute_control_plane
