"""What perf script prints (excerpts of real recordings of MariaDB), and the names that clones get."""

from __future__ import annotations

from collections import Counter

import pytest

from burnish.why.samples import (
    KERNEL,
    UNKNOWN,
    Flat,
    Frame,
    Mapping,
    Place,
    merged,
    object_of,
    offsets,
    parse_flat,
    parse_maps,
    parse_stacks,
)

SERVER = "/srv/builds/41b680a9a98b9751/sql/mariadbd"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"

FLAT = f"""\
Warning:
Kernel address maps (/proc/{{kallsyms,modules}}) were restricted.
24845     250000      55972c0f026a native_compare.llvm.3432963406792268183 ({SERVER})
24845     250000      55972c0f026a native_compare.llvm.3432963406792268183 ({SERVER})
24845     250000      55972b93c7a4 my_strcasecmp_utf8mb3 [clone .cold] ({SERVER})
24845    1001001  ffffffff813a2413 finish_task_switch.isra.0 ([kernel.kallsyms])
24845    1001001  ffffffffc0002413 ext4_read ([ext4])
24845    1001001      7f503bf81961 __memcmp_evex_movbe ({LIBC})
22670    1001001      7ffd1b3f5961 [unknown] ([vdso])
22670    1001001      559538501a58 operator() (const void*) (/srv/x (deleted))
"""

STACKS = f"""\
24845    1001001\x20
\tffffffff821f94c3 schedule ([kernel.kallsyms])
\tffffffff821ed511 do_syscall_64 ([kernel.kallsyms])
\t           fc26f __poll ({LIBC})
\t          d08e3e do_command ({SERVER})
\t           891f5 start_thread ({LIBC})

24845    1001001\x20
\t          c95751 buf_page_get_low [clone .part.0] ({SERVER})
\t          c88fa1 row_search_mvcc ({SERVER})
\t           891f5 start_thread ({LIBC})

24845    1001001\x20
\t          c95755 buf_page_get_low ({SERVER})
\t          c88fa9 row_search_mvcc ({SERVER})
\t           891f5 start_thread ({LIBC})
"""

MAPS = f"""\
55972b000000-55972b67a000 r--p 00000000 fe:00 10127163                   {SERVER}
55972b67a000-55972bfa4000 r-xp 0067a000 fe:00 10127163                   {SERVER}
7f503be44000-7f503bf9a000 r-xp 00026000 fe:00 326269                     {LIBC}
7ffd1b3f5000-7ffd1b3f7000 r-xp 00000000 00:00 0                          [vdso]
"""


def test_flat_samples_by_process() -> None:
    result = parse_flat(FLAT)
    assert set(result) == {24845, 22670}
    server = result[24845]
    assert server.count == 6
    assert server.total == 3 * 250_000 + 3 * 1_001_001
    assert server.weights[Place(SERVER, "native_compare.llvm.3432963406792268183", 0x55972C0F026A)] == 500_000
    assert server.weights[Place(KERNEL, "ext4_read", 0)] == 1_001_001, "modules are the kernel's"
    other = result[22670]
    assert Place("[vdso]", UNKNOWN, 0x7FFD1B3F5961) in other.weights
    assert Place("/srv/x", "operator() (const void*)", 0x559538501A58) in other.weights
    assert (server + other).count == 8


def test_no_samples() -> None:
    assert parse_flat("") == {}
    assert parse_stacks("") == {}


def test_stacks_are_outermost_first_and_clones_are_merged() -> None:
    (stacked,) = parse_stacks(STACKS).values()
    result = stacked.weights
    assert stacked.count == 3
    thread, row = Frame(LIBC, "start_thread"), Frame(SERVER, "row_search_mvcc")
    assert result == {
        (
            thread,
            Frame(SERVER, "do_command"),
            Frame(LIBC, "__poll"),
            Frame(KERNEL, "do_syscall_64"),
            Frame(KERNEL, "schedule"),
        ): 1_001_001,
        (thread, row, Frame(SERVER, "buf_page_get_low")): 2_002_002,
    }


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("ull2dec.part.0", "ull2dec"),
        ("my_get_stack_pointer.constprop.0", "my_get_stack_pointer"),
        ("finish_task_switch.isra.0.cold", "finish_task_switch"),
        ("native_compare.llvm.3432963406792268183", "native_compare"),
        ("foo.lto_priv.0.lto_priv.12", "foo"),
        ("_ZN4Item3fixEv.cold.0", "_ZN4Item3fixEv"),
        ("_ZN4Item3fixEv.warm", "_ZN4Item3fixEv"),
        ("Item::fix [clone .part.0] [clone .cold]", "Item::fix"),
        ("a.__uniq.123.llvm.4", "a"),
        ("row_search_mvcc", "row_search_mvcc"),
        ("operator.", "operator."),
        (".cold", ".cold"),
        ("split.parts", "split.parts"),
    ],
)
def test_clones_are_merged_into_their_function(name: str, own: str) -> None:
    assert merged(name) == own


def test_objects() -> None:
    assert object_of("[kernel.kallsyms]") == KERNEL
    assert object_of("[guest.kernel.kallsyms]") == KERNEL
    assert object_of("[nf_tables]") == KERNEL
    assert object_of("[unknown]") == UNKNOWN
    assert object_of("/srv/mariadbd (deleted)") == "/srv/mariadbd"


def test_places_in_the_file_come_from_the_process_mappings() -> None:
    mappings = parse_maps(MAPS)
    assert mappings[0] == Mapping(0x55972B67A000, 0x55972BFA4000, 0x67A000, SERVER)
    assert [mapping.path for mapping in mappings] == [SERVER, LIBC], "only code, only files"
    weights = Counter({Place(SERVER, "a", 0x55972B67A010): 3, Place(SERVER, "b", 0x10): 5, Place(LIBC, "c", 1): 7})
    assert offsets(Flat(weights, 15), SERVER, mappings) == {0x67A010: 3}


def test_an_inlined_frame_is_in_the_object_of_its_caller() -> None:
    text = """ 17 1000
\t            10 leaf (inlined)
\t            10 middle (inlined)
\t            10 outer (/srv/mariadbd)
\t            20 __libc_start_call_main (/usr/lib/libc.so.6)

"""
    (stacked,) = parse_stacks(text).values()
    ((stack, _),) = stacked.weights.items()
    assert [(frame.function, frame.object) for frame in stack] == [
        ("__libc_start_call_main", "/usr/lib/libc.so.6"),
        ("outer", "/srv/mariadbd"),
        ("middle", "/srv/mariadbd"),
        ("leaf", "/srv/mariadbd"),
    ]
