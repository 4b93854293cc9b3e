"""The final code of AMD's CDNA chips, interpreted: what LLVM made of a kernel after all that an
emulated chip runs.

All threads of all programs are lanes of one wide wave, so that a register is an array; scalars may
differ by program. Instructions are those that elementwise kernels come to: the vector and scalar
ALU, loads, stores, and branches on masks. By the "MI300 Instruction Set Architecture" guide.
"""

from __future__ import annotations

import re

import numpy as np
from amd_arithmetic import (
    FLOATS,
    INTEGERS,
    TYPES,
    bits,
    class_of,
    compute,
    reverse,
    to_integer,
    width_of,
)

KERNARG, HEAP = 0x1000, 0x10000
BEFORE = {"private_segment_buffer": 4, "dispatch_ptr": 2, "queue_ptr": 2}
COMPARISONS = {
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "lg": lambda a, b: (a < b) | (a > b), "ge": lambda a, b: a >= b,
    "o": lambda a, b: (a == a) & (b == b), "u": lambda a, b: (a != a) | (b != b),
    "nge": lambda a, b: ~(a >= b), "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b), "nle": lambda a, b: ~(a <= b), "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b), "ne": lambda a, b: a != b,
}  # fmt: skip


class Processor:
    def __init__(self, assembly: str, kernel: str, memory: np.ndarray, lanes: int, programs: int):
        self.lines, self.labels = [], {}
        self.read(assembly, kernel)
        self.memory = memory
        self.wave = lanes
        self.lanes = lanes * programs
        self.vector: dict[int, np.ndarray] = {}
        self.scalar: dict[int, np.ndarray] = {}
        self.masks: dict[str, np.ndarray] = {"exec": np.ones(self.lanes, bool)}
        self.vector[0] = np.tile(np.arange(lanes, dtype=np.uint32), programs)
        # The arguments stand behind what else is asked for, then comes the program's number.
        asked = {
            name: int(re.search(rf"user_sgpr_{name} (\d+)", self.metadata)[1])
            for name in BEFORE
            if name in self.metadata
        }
        at = sum(BEFORE[name] * count for name, count in asked.items())
        self.scalar[at] = np.array([KERNARG], np.uint32)
        self.scalar[at + 1] = np.zeros(1, np.uint32)
        count = int(re.search(r"user_sgpr_count (\d+)", self.metadata)[1])
        self.scalar[count] = np.repeat(np.arange(programs, dtype=np.uint32), lanes)
        self.carry = np.zeros(1, bool)

    def read(self, assembly: str, kernel: str) -> None:
        body = assembly[assembly.index(f"\n{kernel}:") :]
        self.metadata = body
        for line in body.splitlines()[2:]:
            line = line.split(";")[0].split("//")[0].strip()
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.lines)
            elif line.startswith((".section", ".Lfunc_end")):
                break
            elif line and not line.startswith("."):
                self.lines.append(line)

    # Operands

    def get_scalar(self, name: str) -> np.ndarray:
        if name.startswith("s") and name[1:].isdigit():
            return self.scalar[int(name[1:])]
        return self.constant(name, "b32")

    def constant(self, text: str, kind: str) -> np.ndarray:
        width = width_of(kind)
        if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", text):
            size = {16: "f16", 32: "f32", 64: "f64"}[width]
            return np.array([float(text)], FLOATS[size]).view(bits(width))
        number = int(text, 0)
        if kind == "f64" and (text.startswith("0x") or abs(number) > 64):
            number <<= 32  # the upper half
        return np.array([number & ((1 << width) - 1)], bits(width))

    def raw(self, name: str, kind: str) -> np.ndarray:
        """The bits of an operand."""
        width = width_of(kind)
        if name in self.masks or name in ("vcc", "exec"):
            mask = self.mask(name)
            return mask.astype(np.uint64)
        if match := re.fullmatch(r"([vs])\[(\d+):(\d+)\]", name):
            file = self.vector if match[1] == "v" else self.scalar
            first = int(match[2])
            low, high = file[first].astype(np.uint64), file[first + 1].astype(np.uint64)
            return low | high << np.uint64(32)
        if match := re.fullmatch(r"([vs])(\d+)", name):
            value = (self.vector if match[1] == "v" else self.scalar)[int(match[2])]
            return value.astype(bits(width)) if width < 32 else value
        return self.constant(name, kind)

    def get(self, operand: str, kind: str, select: str = "DWORD") -> np.ndarray:
        """An operand's value, with its modifiers."""
        negates = operand.startswith("-") and not re.match(r"-[\d.]", operand)
        operand = operand[1:] if negates else operand
        magnitude = operand.startswith("|")
        operand = operand.strip("|")
        extends = operand.startswith("sext(")
        if extends:
            operand = operand[5:-1]
        if select != "DWORD":
            part, place = select.split("_")
            size = 8 if part == "BYTE" else 16
            value = self.raw(operand, "b32") >> np.uint32(size * int(place))
            value = value.astype(bits(size))
            if kind in FLOATS:
                value = value.view(FLOATS[kind])
            elif extends:
                value = value.view(INTEGERS[f"i{size}"]).astype(INTEGERS[kind])
            else:
                value = value.astype(INTEGERS[kind])
        else:
            value = self.raw(operand, kind).view(TYPES[kind])
        if magnitude:
            value = np.abs(value)
        return -value if negates else value

    def mask(self, name: str) -> np.ndarray:
        if name in ("0", "-1"):
            return np.full(self.lanes, name == "-1")
        return np.broadcast_to(self.masks[name], self.lanes)

    def set(self, name: str, value: np.ndarray, select: str = "DWORD") -> None:
        """Of the lanes that are on."""
        width = 8 * value.itemsize
        value = np.broadcast_to(value.view(bits(width)), self.lanes)
        first = int(re.search(r"\d+", name)[0])
        if width == 64:
            self.put(first, (value & np.uint64(0xFFFFFFFF)).astype(np.uint32))
            self.put(first + 1, (value >> np.uint64(32)).astype(np.uint32))
            return
        value = value.astype(np.uint32)
        if select.startswith("WORD"):
            value = (value & np.uint32(0xFFFF)) << np.uint32(16 * int(select[-1]))
        elif select.startswith("BYTE"):
            value = (value & np.uint32(0xFF)) << np.uint32(8 * int(select[-1]))
        self.put(first, value)

    def put(self, register: int, value: np.ndarray) -> None:
        old = self.vector.get(register, np.zeros(self.lanes, np.uint32))
        self.vector[register] = np.where(self.masks["exec"], value, old)

    def set_mask(self, name: str, value: np.ndarray) -> None:
        self.masks[name] = np.broadcast_to(value, self.lanes) & self.masks["exec"]

    def by_wave(self, mask: np.ndarray) -> np.ndarray:
        """Whether a wave has a lane of the mask."""
        return np.repeat(mask.reshape(-1, self.wave).any(1), self.wave)

    # Running

    def run(self) -> None:
        at, count = 0, 0
        with np.errstate(all="ignore"):
            while True:
                count += 1
                assert count < 200_000, "expected the code to end"
                line = self.lines[at]
                at += 1
                name, _, rest = line.partition(" ")
                if name == "s_endpgm":
                    return
                if name in ("s_branch",):
                    at = self.labels[rest.strip()]
                    continue
                if name.startswith("s_cbranch_"):
                    if self.branches(name.removeprefix("s_cbranch_")):
                        at = self.labels[rest.strip()]
                    continue
                try:
                    self.step(name, rest)
                except Exception as error:
                    raise AssertionError(f"cannot run '{line}': {error!r}") from error

    def branches(self, condition: str) -> bool:
        if condition.startswith("scc"):
            assert self.carry.all() == self.carry.any(), "expected programs that go one way"
            return bool(self.carry.all()) == (condition == "scc1")
        mask = self.masks["exec"]
        if condition.startswith("vcc"):
            mask = mask & self.masks["vcc"]
        return mask.any() == condition.endswith("nz")

    def step(self, name: str, rest: str) -> None:
        if name in ("s_nop", "s_waitcnt", "s_barrier", "s_setprio"):
            return
        name = re.sub(r"_(e32|e64|sdwa|dpp)$", "", name)
        option = r"(?<![\w\[])([a-z]\w*):(\[[\d,]+\]|\w+)"
        options = dict(re.findall(option, rest))
        plain = re.sub(option, "", rest)
        flags = set(re.findall(r"\b(?:offen|clamp|idxen)\b", plain))
        plain = re.sub(r"\b(?:offen|nt|sc0|sc1)\b", "", plain)
        operands = [operand.strip() for operand in plain.split(",")]
        assert not flags & {"clamp", "idxen"}, "expected neither"
        if name.startswith("s_"):
            self.step_scalar(name[2:], operands)
        elif name.startswith(("global_", "buffer_")):
            self.step_memory(name, operands, options)
        elif name.startswith("v_cmp"):
            self.step_compare(name, operands, options)
        else:
            self.step_vector(name[2:], operands, options)

    def step_memory(self, name: str, operands: list[str], options: dict[str, str]) -> None:
        offset = int(options.get("offset", "0"), 0)
        is_store = "_store_" in name
        kind = name.split("_", 2)[2]
        inside = np.ones(self.lanes, bool)
        if name.startswith("global_"):
            base = operands[2].split()[0] if len(operands) > 2 else "off"
            if not is_store:
                target, data = operands[0], operands[1]
            else:
                target, data = operands[1], operands[0]
            where = self.raw(data, "b32" if base != "off" else "b64").astype(np.uint64)
            if base != "off":
                where = where + self.raw(base, "b64")
            where = where + np.uint64(offset)
        else:
            target = operands[0]
            place = np.zeros(self.lanes, np.uint32)
            if operands[1] != "off":
                place = self.raw(operands[1], "b32")
            extra = self.get_scalar(operands[3].split()[0]) if len(operands) > 3 else np.uint32(0)
            first = int(re.search(r"\d+", operands[2])[0])
            low = self.scalar[first].astype(np.uint64)
            high = self.scalar[first + 1].astype(np.uint64) & np.uint64(0xFFFF)
            sum_ = place.astype(np.uint64) + np.uint64(offset)
            inside = sum_ < self.scalar[first + 2].astype(np.uint64)
            where = (low | high << np.uint64(32)) + sum_ + extra.astype(np.uint64)
        where = np.broadcast_to(where, self.lanes)
        active = self.masks["exec"] & np.broadcast_to(inside, self.lanes)
        upper = kind.endswith("_d16_hi")
        kind = kind.removesuffix("_d16_hi").removesuffix("_d16")
        words = {"dwordx2": 2, "dwordx3": 3, "dwordx4": 4}.get(kind, 1)
        size = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2}.get(
            kind, 4
        )
        first = int(re.search(r"\d+", target)[0])
        for word in range(words):
            at = np.where(active, where + np.uint64(4 * word), np.uint64(HEAP))[:, None]
            at = (at + np.arange(size, dtype=np.uint64)).astype(np.int64)
            if is_store:
                value = self.vector[first + word] >> np.uint32(16 if upper else 0)
                value = np.broadcast_to(value, self.lanes)[active]
                self.memory[at[active]] = value[:, None].view(np.uint8).reshape(-1, 4)[:, :size]
                continue
            got = self.memory[at].view(bits(8 * size)).reshape(-1)
            if kind in ("sbyte", "sshort"):
                got = got.view(INTEGERS[f"i{8 * size}"]).astype(np.int32).view(np.uint32)
            got = np.where(active, got.astype(np.uint32), np.uint32(0))
            if upper:
                got = got << np.uint32(16) | (self.vector[first] & np.uint32(0xFFFF))
            self.put(first + word, got)

    def step_compare(self, name: str, operands: list[str], options: dict[str, str]) -> None:
        _, _, how, kind = name.replace("cmpx", "cmp").split("_")
        selects = [options.get(f"src{i}_sel", "DWORD") for i in range(2)]
        if how == "class":
            value = self.get(operands[1], kind, selects[0])
            wanted = self.raw(operands[2], "b32")
            result = (wanted >> class_of(value).astype(np.uint32) & np.uint32(1)) != 0
        else:
            a, b = (self.get(operands[1 + i], kind, selects[i]) for i in range(2))
            result = COMPARISONS[how](a, b)
        self.set_mask(operands[0], result)

    def step_scalar(self, name: str, operands: list[str]) -> None:
        one, four = np.uint32(1), 4
        target = operands[0]
        if name.startswith("load_dword"):
            words = int(name.removeprefix("load_dword").removeprefix("x") or 1)
            first = int(re.search(r"\d+", target)[0])
            base = self.raw(operands[1], "b64") + np.uint64(int(operands[2].split()[0], 0))
            for word in range(words):
                at = (base + np.uint64(four * word)).astype(np.int64)
                at = np.atleast_1d(at)[:, None] + np.arange(4)
                self.scalar[first + word] = self.memory[at].copy().view(np.uint32).reshape(-1)
            return
        is_mask = any(o in self.masks for o in operands[1:] if o not in ("0", "-1"))
        if name.endswith("saveexec_b64"):
            source, old = self.mask(operands[1]), self.masks["exec"]
            how = name.removesuffix("_saveexec_b64")
            new = {"and": source & old, "or": source | old, "andn2": source & ~old}[how]
            self.masks[target], self.masks["exec"] = old, new
            self.carry = self.by_wave(new)
            return
        if name.endswith("_b64") and (
            is_mask
            or target in ("exec", "vcc")
            or (name == "mov_b64" and operands[1] in ("0", "-1"))
        ):
            values = [self.mask(operand) for operand in operands[1:]]
            how = name.removesuffix("_b64")
            if how == "mov":
                result = values[0]
            elif how == "not":
                result = ~values[0]
            else:
                a, b = values
                result = {"and": a & b, "or": a | b, "xor": a ^ b, "andn2": a & ~b, "orn2": a | ~b}[
                    how
                ]
            self.masks[target] = result
            self.carry = self.by_wave(result)
            if operands[1] in ("0", "-1") and target.startswith("s["):
                self.set_scalar(
                    target, np.array([0 if operands[1] == "0" else 2**64 - 1], np.uint64)
                )
                self.masks[target] = result
            return
        width = 64 if name.endswith(("64",)) else 32
        signed = name.endswith(("i32", "i64"))
        kind = ("i" if signed else "u") + str(width)
        if name.startswith("cmp_"):
            how = {"lg": "ne"}.get(name.split("_")[1], name.split("_")[1])
            a, b = (self.raw(o, kind).view(TYPES[kind]) for o in operands)
            self.carry = np.atleast_1d(COMPARISONS[how](a, b))
            return
        if name.startswith(("movk_i32", "addk_i32", "mulk_i32")):
            number = (
                np.array([int(operands[1], 0)], np.int64)
                .astype(np.int16)
                .astype(np.int32)
                .view(np.uint32)
            )
            if name.startswith("addk"):
                number = self.get_scalar(target) + number
            elif name.startswith("mulk"):
                number = self.get_scalar(target) * number
            self.set_scalar(target, number)
            return
        if name == "cselect_b32":
            self.set_scalar(
                target,
                np.where(self.carry, self.get_scalar(operands[1]), self.get_scalar(operands[2])),
            )
            return
        values = [self.raw(operand, kind) for operand in operands[1:]]
        a = values[0]
        b = values[1] if len(values) > 1 else None
        how = name.rsplit("_", 1)[0]
        wide = bits(width)
        if how in ("lshl", "lshr", "ashr"):
            by = (self.raw(operands[2], "u32") & np.uint32(width - 1)).astype(wide)
            result = a << by if how == "lshl" else a >> by
            if how == "ashr":
                result = (a.view(TYPES[f"i{width}"]) >> by.astype(TYPES[f"i{width}"])).view(wide)
            self.carry = np.atleast_1d(result != 0)
        elif how in ("add", "sub", "addc", "subb"):
            extra = self.carry.astype(np.int64) if how in ("addc", "subb") else 0
            sign = 1 if how.startswith("add") else -1
            total = a.astype(np.int64) + sign * b.astype(np.int64) + sign * extra
            result = total.astype(np.uint64).astype(np.uint32)
            if not signed:
                self.carry = np.atleast_1d((total < 0) | (total > 0xFFFFFFFF))
        elif how == "mul":
            result = a * b
        elif how == "mul_hi":
            full = a.view(TYPES[kind]).astype(np.int64 if signed else np.uint64) * b.view(
                TYPES[kind]
            )
            result = (full.view(np.uint64) >> np.uint64(32)).astype(np.uint32)
        elif how in ("and", "or", "xor", "andn2"):
            result = {"and": a & b, "or": a | b, "xor": a ^ b, "andn2": a & ~b}[how]
            self.carry = np.atleast_1d(result != 0)
        elif how == "mov":
            result = a
        elif how == "brev":
            result = reverse(a)
        elif how in ("min", "max"):
            pick = np.minimum if how == "min" else np.maximum
            result = pick(a.view(TYPES[kind]), b.view(TYPES[kind])).view(wide)
        elif how == "bfe":
            result = a >> (b & np.uint32(31)) & (
                (one << (b >> np.uint32(16) & np.uint32(63))) - one
            )
        elif how in ("pack_ll_b32", "pack_ll"):
            result = (a & np.uint32(0xFFFF)) | b << np.uint32(16)
        elif how == "sext_i32":
            result = a.astype(np.uint16).view(np.int16).astype(np.int32).view(np.uint32)
        elif how in ("lshl1_add", "lshl2_add", "lshl3_add", "lshl4_add"):
            result = (a << np.uint32(int(how[4]))) + b
        else:
            raise ValueError("unknown scalar instruction")
        self.set_scalar(target, result)

    def set_scalar(self, name: str, value: np.ndarray) -> None:
        if name == "vcc" or not name.startswith("s"):
            raise ValueError("expected a scalar register")
        first = int(re.search(r"\d+", name)[0])
        for even in {first & ~1, (first + (value.dtype == np.uint64)) & ~1}:
            self.masks.pop(f"s[{even}:{even + 1}]", None)  # they hold a number from now on
        if value.dtype == np.uint64:
            self.scalar[first] = (value & np.uint64(0xFFFFFFFF)).astype(np.uint32)
            self.scalar[first + 1] = (value >> np.uint64(32)).astype(np.uint32)
        else:
            self.scalar[first] = np.atleast_1d(value.astype(np.uint32))

    def step_vector(self, name: str, operands: list[str], options: dict[str, str]) -> None:
        from_ = [options.get(f"src{i}_sel", "DWORD") for i in range(2)] + ["DWORD"]
        target, select = operands[0], options.get("dst_sel", "DWORD")
        accumulates = name.startswith(("fmac_", "mac_"))

        def get(i: int, kind: str, part: str = "") -> np.ndarray:
            operand = target if accumulates and i == 2 else operands[i + 1]
            return self.get(operand, kind, part or from_[i])

        def put(value: np.ndarray) -> None:
            self.set(target, np.asarray(value), select)

        if name in ("readfirstlane_b32",):
            value = self.raw(operands[1], "b32")
            self.scalar[int(target[1:])] = np.atleast_1d(value)
            return
        if name.startswith("mov_b"):
            return put(get(0, "b" + name[5:]))
        if name == "cndmask_b32":
            return put(np.where(self.mask(operands[3]), get(1, "b32"), get(0, "b32")))
        if name.startswith("cvt_"):
            return put(self.convert(name[4:], operands, from_))
        if match := re.fullmatch(r"(addc|subb|subbrev|add|sub|subrev)_co_u32", name):
            a, b = (self.get(o, "u32").astype(np.int64) for o in operands[2:4])
            carry = self.mask(operands[4]).astype(np.int64) if len(operands) > 4 else 0
            if match[1].startswith("add"):
                total = a + b + carry
            else:
                total = (b - a if match[1].endswith("rev") else a - b) - carry
            put(total.astype(np.uint64).astype(np.uint32))
            self.set_mask(operands[1], (total < 0) | (total > 0xFFFFFFFF))
            return None
        if name.startswith("mad_") and name.endswith("64_u32") or name == "mad_i64_i32":
            kind = "i" if name == "mad_i64_i32" else "u"
            a, b = (self.get(o, f"{kind}32").astype(TYPES[f"{kind}64"]) for o in operands[2:4])
            return put((a * b).view(np.uint64) + self.raw(operands[4], "u64"))
        if name.startswith("div_scale"):
            kind = name.rsplit("_", 1)[1]
            self.set_mask(operands[1], np.zeros(1, bool))
            return put(self.get(operands[2], kind))
        return put(compute(name, get, options))

    def convert(self, name: str, operands: list[str], selects: list[str]) -> np.ndarray:
        if name in ("pk_bf16_f32", "pk_f16_f32"):
            low, high = (
                self.get(o, "f32").astype(FLOATS[name[3:-4]]).view(np.uint16).astype(np.uint32)
                for o in operands[1:3]
            )
            return low | high << np.uint32(16)
        to, source = name.split("_")
        if source.startswith("ubyte"):
            raw = self.raw(operands[1], "b32") >> np.uint32(8 * int(source[-1]))
            return (raw & np.uint32(0xFF)).astype(np.float32)
        value = self.get(operands[1], source, selects[0])
        if to in INTEGERS:
            return to_integer(value, to)
        return value.astype(FLOATS[to])
