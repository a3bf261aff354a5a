// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/backends.h"

#include "kernels/cpu/cpu_backend.h"

#include <dlfcn.h>

#include <cstdlib>
#include <system_error>

namespace spanscope {

compute::Backends programBackends(const std::filesystem::path& cudaLibrary) {
  // The CPU comes first. A GPU is used only on request.
  return compute::Backends({cpu::cpuBackendKind(), cudaKind(cudaLibrary)});
}

void useInstructionSetOfEnvironment() {
  if (const char* const name = std::getenv("SPANSCOPE_INSTRUCTION_SET")) cpu::useInstructionSet(name);
}

namespace {

/// Searches beside the program, above it (tests of a build are there), and in the folder of installed
/// libraries.
std::filesystem::path findLibrary() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const char* folder : {".", "..", "../bin", SPANSCOPE_LIBRARY_FOLDER, "../lib", "../lib/spanscope"}) {
    std::filesystem::path path = (program / folder / kCudaLibraryName).lexically_normal();
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}

compute::BackendKind open(const std::filesystem::path& path) {
  if (path.empty())
    return compute::absentKind(compute::kNvidiaDevices.name,
                               /*id:not-built-in*/ "not built into this program");
  // The library stays open, because the kind's functions belong to it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return compute::absentKind(compute::kNvidiaDevices.name,
                               reason != nullptr ? reason : path.string() + " cannot be opened");
  }
  const auto entry = reinterpret_cast<CudaLibraryEntry>(dlsym(library, kCudaLibraryEntry));
  compute::BackendKind kind;
  if (entry == nullptr || !entry(kCudaLibraryVersion, &kind))
    return compute::absentKind(compute::kNvidiaDevices.name,
                               path.string() + " belongs to another version of this program");
  return kind;
}

}  // namespace

compute::KindEntry cudaKind(const std::filesystem::path& library) {
  return {compute::kNvidiaDevices.name,
          [library] { return open(library.empty() ? findLibrary() : library); }};
}

}  // namespace spanscope
