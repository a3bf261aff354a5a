// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever the bytes are, the reader either refuses them or gives tensors that lie in them, one after the
// other.
#include "engine/base/error.h"
#include "engine/checkpoint/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto file = spanscope::checkpoint::parseSafetensors(bytes, "input");
    std::size_t total = 0;
    for (const auto& [name, tensor] : file.tensors) {
      if (tensor.data.empty()) continue;
      if (tensor.data.data() < bytes.data() || tensor.data.data() + tensor.data.size() > bytes.data() + size)
        std::abort();
      total += tensor.data.size();
    }
    if (total > size) std::abort();
  } catch (const spanscope::Failure& failure) {
    if (failure.error().file != "input" || failure.error().expected.empty()) std::abort();
  }
  return 0;
}
