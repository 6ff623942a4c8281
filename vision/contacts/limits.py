"""Thresholds of the contact tracker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ContactLimits:
    """Thresholds and noise parameters of the contact tracker."""

    # Which pairs are followed and reported.
    # bases closer than this may push each other; gaps are measured with up to a millimeter of error
    pushing_mm: float = 3.0
    listed_mm: float = 5.0  # Scenes list pairs with a gap below this
    followed_mm: float = 12.0  # Pairs are followed from this gap on, so that the approach is known when they meet
    touch_probability: float = 0.5  # A pair counts as touching above this
    unseen_probability: float = 0.5  # The highest probability reported while one of the two figures is not seen
    vague_probability: float = 0.9  # The highest probability reported for a vague gap, or when an identity is uncertain
    vague_sigma_mm: float = 2.0  # A gap with a larger error is vague, as for a figure that is hardly visible
    onset_settles_ns: int = 150_000_000  # A contact's start is refined for this long; later frames add no information
    # Between frames as near as this an instant is interpolated; a longer way without one adds to its error
    usual_step_ns: int = 50_000_000
    # The times of measured frames are remembered for this long: longer than a contact's start is refined
    remembered_ns: int = 700_000_000

    # Changes of course without a touch.
    changes_per_s: float = 0.5  # Rate at which a base changes course for no visible reason, as in the twin's physics
    busy_changes_per_s: float = 0.5  # Added rate while the base also touches a third base, which may be pushed
    unsettled_changes_per_s: float = 60.0  # Rate right after the board stops, or while earlier frames are unreliable
    # Duration of that rate after a stop, which is detected late; figures then take time to come to rest
    unsettled_ns: int = 350_000_000
    unreliable_ns: int = 100_000_000  # Duration of that rate after an unfit frame
    # Delay until a halt of all figures is detected; the frames since are filtered again
    halt_noticed_ns: int = 60_000_000
    changed_rate_mm_s: float = 40.0  # Standard deviation of the gap's rate after such a change
    stopping_rate_mm_s: float = 4.0  # The same when all figures stop

    # When a pair starts over.
    max_step_s: float = 0.25  # After a longer gap between frames every pair starts over
    moved_mm: float = 8.0  # A gap that changes more than this in a frame was changed by a hand
    moved_at_rest_mm: float = 0.7  # The same while the board is off
    moved_sigmas: float = 5.0  # Standard deviations of the noise added to both limits, since two frames are compared

    # The filter over free, touching and parted pairs.
    parted_s: float = 0.1  # Locked bases bounce: pairs that meet again sooner than this never parted
    first_touching: float = 0.3  # Share of pairs first seen at touching distance that do touch
    first_gap_spread_mm: float = 5.0  # Range of the gaps of the other pairs
    first_rate_mm_s: float = 20.0  # Standard deviation of the rate of a new pair
    wander_mm2_s3: float = 50.0  # Spectral density of the acceleration of walking bases
    passing_error: float = 0.1  # Relative error of the effect of bases passing each other
    touching_wander: float = 0.5  # Share of a free pair's wandering that touching bases do too
    min_gap_rises_mm_s: float = 0.5  # Rate at which the smallest gap of a free pair is forgotten
    # Rate at which touching bases part, and stay where they were: a tenth of those that part, since others walk apart
    releases_per_s: float = 0.05
    # Touches less than this many steps apart are one event whose exact step the noise hides
    one_approach_steps: float = 1.5
    bounce_mm: float = 0.3  # Largest gap that opens between bases that push each other
    bounces: float = 0.2  # Share of touches after which the bases part at once
    bias_memory_s: float = 2.0  # Time constant of the gap's bias: in that time a figure walks a few base lengths

    # Measured gaps and their noise.
    outlier_share: float = 0.003  # Share of measured gaps that are outliers
    outlier_density_per_mm: float = 0.1  # Probability density of outliers
    # Share of the gap's variance that changes from frame to frame after tracking; the rest lasts
    noise_share: float = 0.35
    # Weight of one pair in one frame for the noise of all pairs: about ten pairs' last few frames count
    common_noise_gain: float = 0.03
    own_noise_gain: float = 0.1  # Weight of one frame for a pair's own noise
    max_noise_factor: float = 4.0  # Upper limit of the noise relative to its nominal size
    min_noise_mm: float = 0.05  # Noise left by bouncing and rounding between touching bases
    min_bias_mm: float = 0.05  # Lower limit of the bias's standard deviation: no camera is better

    # The fit of a contact's start.
    chatter_mm: float = 0.1  # Shaking bases first meet at this distance from their final position
    min_approach_mm_s: float = 5.0  # The slowest approach
    fit_before_s: float = 0.08  # Gaps this long before the estimated start are used
    fit_after_s: float = 0.13  # Gaps this long after the estimated start are used
    search_s: float = 0.06  # Starts up to this far from the estimate are tried
    search_step_s: float = 0.002  # Spacing of the starts that are tried
    # Spectral density of an approach's acceleration, with bases that start from rest or turn
    approach_wander_mm2_s3: float = 1000.0
    approach_speed_mm_s: float = 80.0  # Standard deviation of approach speeds
    # Degrees of freedom of Student's t distribution in the fit: some measurements are outliers
    fit_degrees_of_freedom: float = 4.0
    min_fit_gaps: int = 4  # Number of gaps from which the fit of level and approach is overdetermined
    # Number of these gaps from before the start, if available; slow cameras use older gaps
    min_fit_gaps_before: int = 3
    history_s: float = 0.5  # Measured gaps are kept for this long


CONTACT_LIMITS: Final = ContactLimits()
