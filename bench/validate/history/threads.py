"""All pairs: importing this file registers them."""
import certify_pairs  # noqa: F401
import onnxruntime_threads  # noqa: F401
import optimizer_threads  # noqa: F401
import other_threads  # noqa: F401
import python_threads  # noqa: F401
import repairs  # noqa: F401
from build import PAIRS  # noqa: F401
