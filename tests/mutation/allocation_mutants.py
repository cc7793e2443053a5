# SPDX-License-Identifier: Apache-2.0
"""Mutants of allocation; mutants.py says how a row reads."""
from diagnoses import ANNOUNCED, FAR_BACK, MISPLACED, ONE_CALL, SHARED_TILES, UNCLAIMED

ALLOCATION_MUTANTS = {
    "announce": ("detail/allocate/tile_order.cuh", "", ANNOUNCED, "waited for the places of tile"),
    "group-sum": ("detail/allocate/tile_order.cuh", "", ANNOUNCED, "waited for the places of tile"),
    "look-back-count": ("detail/allocate/tile_order.cuh", "bool const has_tile = lane + 1 < tile % group;", ONE_CALL, MISPLACED),
    "look-back-last": ("detail/allocate/tile_order.cuh", "bool const counts = lane + 1 < nearest;", FAR_BACK, MISPLACED),
    "look-back-sum": ("detail/allocate/tile_order.cuh", "bool const waits = false;", FAR_BACK, MISPLACED),
    "unclaimed-tile": ("detail/allocate/block_allocator.cuh", "", UNCLAIMED, "thread ended while others of its block wait"),
    "begins-cleared": ("detail/allocate/warp_items.cuh", "", SHARED_TILES, MISPLACED),
    "items-listed": ("detail/allocate/warp_items.cuh", "", ONE_CALL, MISPLACED),
    "long-tile": ("detail/allocate/kernels.cuh", "", SHARED_TILES, MISPLACED),
    "warp-totals": ("detail/allocate/kernels.cuh", "", ONE_CALL, MISPLACED),
    "share-tile": ("detail/allocate/kernels.cuh", "", SHARED_TILES, "returned another value|== wanted"),
    "share-sums": ("detail/allocate/kernels.cuh", "", SHARED_TILES, "used again without a barrier"),
}
