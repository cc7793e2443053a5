# SPDX-License-Identifier: Apache-2.0
"""What all pictures are drawn with: colours, the looks of arms, and a page of text and lines."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Theme:
    background: str
    text: str
    faint: str  # names of axes
    grid: str
    hues: dict[str, str]


# The colours are told apart with any kind of colour vision together with the markers, and stand out from the background by 3 to 1.
COLOURS = {
    "light": Theme("#ffffff", "#1f2328", "#59636e", "#e4e8ec",
                   {"grey": "#768390", "dark": "#454c54", "orange": "#d9480f", "pink": "#b83280", "purple": "#7048b6", "sky": "#1f83c4",
                    "blue": "#0b4fb3", "green": "#0a8a63", "red": "#b3261e"}),
    "dark": Theme("#0d1117", "#f0f6fc", "#9198a1", "#252c35",
                  {"grey": "#7d8590", "dark": "#c0c7d0", "orange": "#ff8a4c", "pink": "#f27ac0", "purple": "#b08cff", "sky": "#7cc7ff",
                   "blue": "#3f8cff", "green": "#2fc796", "red": "#ff6f66"}),
}

DASHED, SOLID = (0, (4, 2)), "solid"
# arm -> hue, line, marker, whether the marker is filled. Baselines are dashed; arms with records on chip are as those without, but
# hollow.
STYLES = {
    "memcpy": ("grey", (0, (1, 1.5)), "v", True),
    "copy": ("dark", DASHED, "v", True),
    "global_atomic": ("orange", DASHED, "D", True),
    "global_atomic_compiled": ("orange", DASHED, "D", False),
    "shared_atomic": ("pink", DASHED, "P", True),
    "shared_atomic_compiled": ("pink", DASHED, "P", False),
    "block_scan": ("purple", DASHED, "s", True),
    "thread_atomic": ("orange", DASHED, "D", True),
    "warp_atomic": ("orange", DASHED, "D", False),
    "shared_atomics": ("pink", DASHED, "P", True),
    "cub_histogram": ("sky", DASHED, "^", True),
    "cub_sort": ("sky", DASHED, "^", False),
    "cub_block_decode": ("sky", DASHED, "^", True),
    "cub_batched_copy": ("sky", DASHED, "^", False),
    "unordered": ("red", SOLID, "X", True),
    "ordered": ("blue", SOLID, "o", True),
    "reduce_then_scan": ("purple", SOLID, "s", False),
    "lock_as_written": ("grey", (0, (1, 1.5)), "v", True),
    "lock_tuned": ("dark", DASHED, "v", True),
    "lock_checked": ("dark", DASHED, "v", False),
    "lock_ordered": ("dark", DASHED, "^", False),
    "lock_warp": ("dark", DASHED, "<", False),
    "lock_warp_checked": ("grey", DASHED, "<", True),
    "atomics": ("orange", DASHED, "D", True),
    "atomics_combined": ("orange", DASHED, "D", False),
    "sort": ("pink", DASHED, "P", True),
    "one_gpu_best": ("grey", SOLID, "o", False),
    "one_gpu": ("grey", SOLID, "v", True),
    "two_gpus": ("sky", SOLID, "s", True),
    "two_gpus_on_chip": ("sky", SOLID, "o", False),
    "four_gpus": ("blue", SOLID, "o", True),
    "eight_gpus": ("purple", SOLID, "^", True),
    "warden_paper": ("purple", SOLID, "^", True),
    "warden_locks": ("sky", SOLID, "s", True),
    "warden_runs": ("blue", SOLID, "o", True),
    "warden_runs_on_chip": ("blue", SOLID, "o", False),
    "warden_runs_combined": ("purple", SOLID, "s", False),
    "warden_atomics": ("green", SOLID, "D", True),
    "warden_atomics_on_chip": ("green", SOLID, "D", False),
    "warden_deferred": ("red", SOLID, "X", True),
    "warden_deferred_on_chip": ("red", SOLID, "X", False),
    "warden_deferred_threads": ("red", SOLID, ">", False),
    "warden_deferred_runs": ("red", SOLID, "o", True),
    "warden_deferred_sequential": ("red", DASHED, "P", True),
    "warden_deferred_combined": ("red", DASHED, "s", False),
    "warden_rounds": ("red", SOLID, "X", True),
    "warden_rounds_on_chip": ("blue", SOLID, "o", True),
    "warden_thread": ("red", DASHED, "v", True),
    "warden_lanes": ("red", SOLID, "<", True),
    "warden_lanes_on_chip": ("red", SOLID, ">", True),
    "warden_lanes_locks": ("red", DASHED, ">", True),
    "warden_fused_thread": ("blue", DASHED, "v", True),
    "warden_fused_lanes": ("blue", SOLID, "<", True),
    "warden_colocated": ("green", SOLID, "s", True),
    "warden_nested": ("blue", SOLID, "o", True),
    "warden_nested_on_chip": ("blue", SOLID, "o", False),
    "warden_forwarding": ("purple", SOLID, "^", True),
    "warden": ("red", SOLID, "X", True),
    "warden_regions": ("blue", SOLID, "o", True),
    "boost_push_relabel": ("pink", DASHED, "P", True),
    "boost_boykov_kolmogorov": ("pink", DASHED, "P", False),
    "gather_serial": ("grey", DASHED, "v", True),
    "gather_warp": ("grey", DASHED, "v", False),
    "gather_scan": ("dark", DASHED, "^", True),
    "cull_none": ("pink", DASHED, "P", True),
    "cull_warp": ("pink", DASHED, "P", False),
    "cull_history": ("purple", DASHED, "s", True),
    "hogwild": ("orange", DASHED, "D", True),
    "sequential": ("grey", DASHED, "v", True),
    "queue_threads": ("orange", DASHED, "D", True),
    "queue_blocks": ("orange", DASHED, "D", False),
    "top_down": ("sky", SOLID, "o", True),
    "direction_optimizing": ("green", SOLID, "o", True),
}
SIZES = {"v": 4.6, "^": 4.6, "D": 3.9, "P": 5, "s": 4.2, "o": 4.6, "X": 5, ">": 4.6}


# Baselines, that is, from the middle of the text down, as a part of its size. Asked of the font, it would depend on the machine.
BASELINE_BELOW = 0.35


class Page:
    """The one pair of axes is the picture, in points: what stands where is the layout's to say."""

    def __init__(self, axes, theme, layout):
        self.axes, self.theme, self.layout = axes, theme, layout

    def text(self, x, y, text, colour, size=9, **options):
        """`y`: the middle of small letters."""
        self.axes.text(x, y + BASELINE_BELOW * size, text, color=colour, size=size, va="baseline", **options)

    def line(self, xs, ys, colour, **options):
        return self.axes.plot(xs, ys, color=colour, clip_on=False, **options)[0]
