// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace spanscope::cpu {

std::uint64_t machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long pageBytes = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || pageBytes <= 0) return 0;
  std::uint64_t memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes);
  // "max" where the group has no limit, which is no number.
  std::uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) memory = std::min(memory, limit);
  return memory;
}

}  // namespace spanscope::cpu
