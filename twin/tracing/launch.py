"""The kernels that are launched, one thread or loop step per pixel: light of windows, and owners of pixels."""

from downfield.twin.tracing.kernels.pixels import owner_at, pixel
from downfield.twin.tracing.target import ON_CUDA, cuda_kernel, processor_kernel

if ON_CUDA:
    from numba import cuda

    @cuda_kernel
    def trace(
        jobs,
        job_views,
        views,
        view_scenes,
        heads,
        counts,
        solids,
        groups,
        members,
        cells,
        lists,
        raster,
        spp,
        mask,
        out,
    ):
        """Trace windows: `out` is (jobs, height, width, 3), height a multiple of 4 and width of 8."""
        i = cuda.grid(1)
        height, width = out.shape[1], out.shape[2]
        job, rest = i // (height * width), i % (height * width)
        if job >= out.shape[0]:
            return
        block, lane = rest // 32, rest % 32  # 32 threads see 8 x 4 pixels: their rays stay together
        across = width // 8
        row, column = (block // across) * 4 + lane // 8, (block % across) * 8 + lane % 8
        pixel(
            job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists,
            raster, spp, mask, out,
        )  # fmt: skip

    @cuda_kernel
    def owners(places, place_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, out):
        """Owners of what pixels show: `places` (n, 2), `out` (n,)."""
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = owner_at(
                place_views[i], views, view_scenes, heads, counts, solids, groups, members, cells, lists,
                places[i, 0], places[i, 1],
            )  # fmt: skip

else:
    import numba

    @processor_kernel
    def trace(
        jobs,
        job_views,
        views,
        view_scenes,
        heads,
        counts,
        solids,
        groups,
        members,
        cells,
        lists,
        raster,
        spp,
        mask,
        out,
    ):
        """Trace windows: `out` is (jobs, height, width, 3)."""
        height = out.shape[1]
        for i in numba.prange(out.shape[0] * height):
            job, row = i // height, i % height
            for column in range(out.shape[2]):
                pixel(
                    job, row, column, jobs, job_views, views, view_scenes, heads, counts, solids, groups, members,
                    cells, lists, raster, spp, mask, out,
                )  # fmt: skip

    @processor_kernel
    def owners(places, place_views, views, view_scenes, heads, counts, solids, groups, members, cells, lists, out):
        """Owners of what pixels show: `places` (n, 2), `out` (n,)."""
        for i in numba.prange(out.shape[0]):
            out[i] = owner_at(
                place_views[i], views, view_scenes, heads, counts, solids, groups, members, cells, lists,
                places[i, 0], places[i, 1],
            )  # fmt: skip
