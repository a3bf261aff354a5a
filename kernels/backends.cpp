// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/backends.h"

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/instruction_set.h"
#include "kernels/cuda_library.h"

#include <cstdlib>

namespace spanscope {

compute::Backends programBackends(const std::filesystem::path& cudaLibrary) {
  // The processor first: a card has to be asked for.
  return compute::Backends({cpu::cpuBackendKind(), cudaKind(cudaLibrary)});
}

void useInstructionSetOfEnvironment() {
  if (const char* const name = std::getenv("SPANSCOPE_INSTRUCTION_SET")) cpu::useInstructionSet(name);
}

}  // namespace spanscope
