"""Decisions that an author takes in the compiler's stead."""

from __future__ import annotations

from typing import Any

from kiln.language.intrinsic import intrinsic


@intrinsic
def pin(
    value: Any = ...,
    *,
    warps: int | None = None,
    cluster: int | tuple[int, ...] | None = None,
    overlap: bool | None = None,
    roles: Any = None,
    persistent: int | tuple[int, int] | tuple[int, int, str] | bool | None = None,
    raster: str | None = None,
    per_core: int | None = None,
    programs_per_block: int | None = None,
    batch: int | None = None,
    chunk: int | tuple[int, int] | bool | None = None,
    role: str | None = None,
    stage: int | None = None,
    order: int | None = None,
    ring: str | None = None,
    depth: int | None = None,
    write_stage: int | None = None,
    in_flight: int | None = None,
    atom: str | None = None,
    read_atom: str | None = None,
    buffer: str | None = None,
    held: int | None = None,
    kept: str | None = None,
    layout: str | None = None,
    residency: str | None = None,
    carried: str | None = None,
    columns: int | None = None,
    operand_columns: int | None = None,
    fetched: str | None = None,
    guarded: bool | None = None,
    split: bool | None = None,
    triggers: bool | None = None,
    multicast: str | tuple[str, ...] | None = None,
    parts: tuple[int, int, int] | None = None,
    reads_ahead: int | None = None,
    part_stages: tuple[tuple[int, int], ...] | None = None,
    part_orders: tuple[tuple[int, int], ...] | None = None,
    promote: bool | None = None,
    swap: bool | None = None,
    extents: tuple[int, ...] | None = None,
    interleave: str | None = None,
    share: int | str | tuple[int | str, str] | None = None,
) -> Any:
    """Takes decisions in the compiler's stead; one that cannot hold is an error at its line.

    Without a value, as a statement, for the whole kernel. `warps` is how many warps run one
    program: a constant, a power of two; a tunable lets a tuner choose. `cluster` is how many
    programs along each axis a chip runs side by side; of a grid that is not one of whole clusters,
    more programs run than it has, and write nothing. With
    `overlap` a launch may begin before what precedes it on its stream has ended: the kernel then
    waits itself, before it reads or writes anything, and lets the next one begin where operations
    are pinned with `triggers`, or at once. `roles` is a tuple of `kiln.role`: groups of
    warps that run one part of the program each. `persistent` is how many programs are launched,
    each of which takes tiles of the grid in turn, 0 for `per_core` (1) a core of the device; or a
    pair of that and how many tiles along x are kept together, with "even" behind them for no more
    programs than run the tiles in as few rounds, for tiles that take equally long; if nobody says,
    passes decide, and False keeps them from it. `raster` is the order of tiles:
    "grouped", by these groups alone; "chiplets", such that the programs of one die of the chip take
    tiles that lie side by side; "longest_x", "longest_y" or "longest_z", from the last place along
    that axis to the first, for work that grows along it, in sections of about as many tiles as
    `persistent` keeps together, or of all. `programs_per_block` is how many programs
    that follow one another along x are launched as one block, each on warps of its own: for
    programs of so few warps that a core has no room for enough blocks; if nobody says, passes
    decide, and 1 keeps them from it. `batch` is how many programs that follow one another along x
    one program runs in step, as one more dimension of its tiles: for rows that are too short to
    keep the lanes of a warp busy; if nobody says, passes decide, and 1 keeps them from it. `chunk`
    is for tiles that are too long for registers, along whose longest dimension operations work
    element by element, sum, load and store: of how many elements a program computes at once, a
    power of two, or a pair of that and how many tiles of so many one trip of a loop loads before it
    waits for any. If nobody says, passes decide, and False keeps them from it. A target whose
    programs are not run by warps (the CPU) reads neither warps, clusters, overlap,
    programs_per_block, batch nor chunks.

    Around what an operation gives (a load, a product, arithmetic on tiles), or around a store: who
    runs it and when. `role` names one of the kernel's; `stage` says for how many trips of its loop
    it lags behind what the role begins, `order` at which place of a trip it runs, both counted from
    0; orders from 0 on of several operations are places among these, one alone or some with gaps
    are places among all that the role does in the loop. `atom` is the instruction: "tma" or
    "cp_async" for a load, "tma" for a store, "wgmma", "tcgen05" or "mma_sync" for a product on
    NVIDIA's chips, "load_to_lds" and "matrix" on AMD's; by "tcgen05_pair" two programs of a cluster
    multiply together, by the same b, of which each has half in shared memory. What a load with an
    atom brings lies in a slot of a ring: `ring` names one that several loads share, `depth` is how
    many slots it has, where the loop does not say. `buffer` is the order of a tile in its slot,
    `"offset = [[0,1],[0,2],…]"`: where each bit of a place in it leads; also around a store by an
    engine. `read_atom` is the instruction that reads the slot into registers, as the IR spells it:
    `"#nvptx.ldmatrix<4, 16>"`. Around what one role makes and another uses, or what a product reads
    from shared memory, `depth` is how many slots it is handed over by, where the loop does not say;
    what a loop gives at its end, as a product's last sum, by what is said of what makes it there.
    Its order follows from the layouts on both sides, and a sum in tensor memory has one slot
    more than its product's `in_flight`. `held`, around a load without an atom of which a store by
    an engine is made, is how many of the store's boxes threads have in registers at a time. `kept`
    around a load in a kernel with `chunk`, "shared", has a program keep in shared memory what
    several of its loops over chunks use, which else is loaded again by each. Rows
    that `kiln.gather` loads go through registers, and lie in no ring. What is loaded through
    registers is written to its slot at the end of a trip: of the load's stage, or of `write_stage`.
    `in_flight` is how many products started later may run when this one is waited for, or how many
    stores. `layout` says who holds which element of the result, as `kiln layout` shows it.
    `residency` is where products read the result, "registers" or "shared" memory, or, around a
    product, where its sum is, "registers" or "tensor_memory": what a load has brought to shared
    memory is then read into registers first, or not, and what warps compute is written to shared
    memory. `carried`, around a product whose sum is in tensor memory, is where its loop has the sum
    from trip to trip, "registers" or "tensor_memory"; there it can stay if a trip does no more with
    it than to change it, element by element, in front of the product. `columns`, around such a
    product, is the number of the columns of tensor memory that its sum has in its role, and
    `operand_columns` of those in which warps write its operand a that they have computed; numbers
    are from 0 on, without a gap. What has the same is in use at different times, is of one type,
    and is a slot together. An operand in the columns of a sum is written over that sum, which the
    trip has fetched by then. If nobody says, passes decide. `fetched`, around a store by an engine,
    is how sums in tensor memory are fetched of which it is made: "whole", or by "boxes", each as it
    is stored. With `triggers` what follows on the stream may begin once all programs have come
    behind the operation or ended, in a kernel with `overlap`. Around `kiln.where` on tiles in a
    loop, `guarded` says whether only those trips mask that need it: the loop is parted where all
    elements pass, and its code doubles. If nobody says, passes decide. The mask must be comparisons
    of numbers that grow with the loop's variable. Around a load by an engine in a kernel with
    `cluster`, `multicast` names the axes along which the programs of a cluster load the same tile:
    each brings a part of its rows to all of them.

    Around a product: `parts` is how many parts it is cut into along m, n and k, each of which reads
    what it needs out of shared memory when it comes, or `reads_ahead` parts before. `part_stages`
    and `part_orders` say it part by part, along k, then m, then n: a pair for each, of its reads
    and of its product. Stages are those of the loop, and `stage` that of the last product; orders
    are places among all that the parts do, each from 0 on, in the place that `order` says. So the
    first part of the next trip can be read behind the last product of this one. A product in flight
    reads its operands itself: the place of a part's reads is right in front of it, and `in_flight`
    counts each part. With `promote` each part along k is summed up from zero and then added to the
    sum, for instructions that keep few bits of one. With `swap` the transpose is computed, so that
    few rows are the instruction's columns. False keeps passes from the one or the other. `extents`
    is what is computed of a product of two matrices: its rows, its columns and its inner extent,
    each as it is or as the next power of two; several inner extents, powers of two that add up to
    it, cut it into products that follow one another. If nobody says, passes decide. `interleave` is
    how its instructions alternate with those around it, on AMD's chips: rounds, each so many times
    over, as "16 x (1 read), 32 x (2 matrix, 1 load)".

    Around the range of a loop: `depth` is how many slots the rings filled in it have; `role`,
    `stage` and `order` are those of the loop in the loop around it; `share` is how many programs
    run a part of its trips each, for each tile of the grid, and add up what they have summed: the
    last to come does so, in an order that is always the same, and goes on behind the loop. With
    `(4, "atomic")` they add as they come. Such a loop stands in the kernel's body itself and
    carries sums alone, which begin as zeros. "stream", or `("stream", "atomic")`, is for a loop
    with the same trips for each tile in a kernel with `persistent`: each program runs as many whole
    tiles as all others, and those that would leave some programs without work are cut among all, a
    trip more or less. Sums are the same from launch to launch on as many programs. Around the
    whole condition of a `while`: `depth`, `role`, `stage` and `order`, of that loop. Around the
    whole condition of an `if`, or of a conditional expression: `role`, `stage` and `order`, and
    `split`, by which the loop around it is parted where the condition changes, so that neither part
    asks. What a loop or a branch gives has no decisions: its operations do, or it has.

        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
        for k in kiln.pin(range(0, n, 64), depth=4):
            x = kiln.pin(a.load((i, k), (64, 64)), role="load", stage=0, atom="tma")
            y = kiln.pin(b.load((j, k), (64, 64)), role="load", stage=0, atom="tma")
            acc = kiln.pin(
                kiln.dot(x, y, acc, transpose_b=True),
                role="mma", stage=0, atom="wgmma", in_flight=1,
            )

    Example: `kiln.pin(warps=8)`

    Errors: a decision that means nothing for its value; warps that are not a constant power of two
    up to 64; another decision than before; a value that no operation of this block makes.
    """


@intrinsic
def role(
    name: str, *, warps: int, copies: int = 1, registers: int = 0, skew: int = 0, turns: int = 1
) -> Any:
    """A group of warps that run one part of the program, as `kiln.pin(roles=...)` takes it.

    `copies` groups of `warps` each run the same part and share its tiles out: of 192 rows each of
    three has 64. `registers` is what each thread may use, where roles of the chip can hand
    registers to one another; 0 leaves what the kernel was started with, or, where that does not
    hold a product's sums, to the compiler. `skew` is by how many barriers each copy lags behind the
    one before it. `turns` groups of `warps` take the tiles of a kernel with `persistent` in turn:
    each runs whole ones, so that one computes while another stores what it has computed.

    Example: `kiln.pin(roles=(kiln.role("all", warps=4),))`

    Errors: a name that is not a constant string; numbers that are not constants.
    """


__all__ = ["pin", "role"]
