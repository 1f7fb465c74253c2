#!/bin/bash
# machine.sh: describes this machine, as CSV, for whoever reads the results.
# The server is that of PGHOST and PGPORT, if there is one.
set -uo pipefail

# line WHAT VALUE...
line()
{
	local what=$1
	shift
	[ -z "$*" ] || printf '%s,"%s"\n' "$what" "$(tr -d '"' <<<"$*" | tr -s ' ')"
}

setting()
{
	psql -XAtqc "SHOW $1" 2>/dev/null
}

echo 'what,value'
line machine "${MACHINE:-$(hostname)}"
line date "$(date -u +%Y-%m-%d)"
line processor "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
line instructions "$(grep -m1 '^flags' /proc/cpuinfo |
	grep -oE '\b(avx2|bmi2|vpclmulqdq|avx512bw|avx512_vbmi2)\b' | xargs)"
line cores "$(nproc)"
line 'level-2 and level-3 cache' "$(
	getconf -a | sed -n 's/^LEVEL[23]_CACHE_SIZE *//p' | numfmt --to=iec | xargs)"
line memory "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo |
	awk '{ printf "%.0f GiB", $1 / 1048576 }')"
line kernel "$(uname -sr)"
line 'C compiler' "$(cc --version 2>/dev/null | head -1)"
line 'load before' "$(cut -d' ' -f1-3 /proc/loadavg)"
if command -v nvidia-smi >/dev/null; then
	line GPU "$(nvidia-smi --query-gpu=name,memory.total,pcie.link.gen.max,pcie.link.width.max \
		--format=csv,noheader | head -1 | awk -F', *' '{ print $1 ", " $2 ", PCIe " $3 " x" $4 }')"
	line driver "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)"
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
line CUDA "$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
line PostgreSQL "$(setting server_version)"
[ -z "$(setting server_version)" ] ||
	line 'its settings' "shared_buffers $(setting shared_buffers), jit $(setting jit), fsync $(setting fsync)"
