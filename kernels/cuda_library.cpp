// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda_library.h"

#include "engine/base/error.h"

#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

namespace spanscope {
namespace {

/// Beside the program, or where installed programs have their libraries.
std::filesystem::path findLibrary() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  for (const char* folder : {".", "../bin", "../lib", "../lib/spanscope"}) {
    std::filesystem::path path = (program / folder / kCudaLibraryName).lexically_normal();
    if (std::filesystem::exists(path, error)) return path;
  }
  return {};
}

compute::BackendKind open() {
  const std::filesystem::path path = findLibrary();
  if (path.empty()) return compute::absentKind("cuda", "not built into this program");
  // It stays open: the kind's functions are its.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    return compute::absentKind("cuda", reason != nullptr ? reason : path.string() + " cannot be opened");
  }
  const auto entry = reinterpret_cast<CudaLibraryEntry>(dlsym(library, kCudaLibraryEntry));
  compute::BackendKind kind;
  if (entry == nullptr || !entry(kCudaLibraryVersion, &kind))
    return compute::absentKind("cuda", path.string() + " belongs to another version of this program");
  return kind;
}

/// The library, opened once by whoever asks first.
class Library {
 public:
  const compute::BackendKind& kind() {
    std::call_once(m_once, [this] { m_kind = open(); });
    return m_kind;
  }

 private:
  std::once_flag m_once;
  compute::BackendKind m_kind;
};

}  // namespace

compute::BackendKind cudaKind() {
  const auto library = std::make_shared<Library>();
  return {
      .name = "cuda",
      .probe = [library] { return library->kind().probe(); },
      .make = [library](const compute::BackendOptions& options) { return library->kind().make(options); },
      .meter = [library](const compute::BackendOptions& options) { return library->kind().meter(options); },
      .memory = [library] { return library->kind().memory(); }};
}

}  // namespace spanscope
