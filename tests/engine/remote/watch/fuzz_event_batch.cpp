// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a message of KV events. The reader refuses the bytes, or the cache takes them, and the trace
// of the cache is valid.
#include "engine/base/error.h"
#include "engine/remote/watch/event_batch.h"
#include "engine/remote/watch/watched_cache.h"
#include "engine/trace/recorder.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace spanscope;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  trace::Recorder recorder;
  watch::WatchedCache cache(recorder, {.program = "Server", .address = "here", .model = {}}, nullptr);
  try {
    cache.take(0, watch::readBatch(bytes), 0);
  } catch (const Failure&) {
    return 0;
  }
  cache.end(1);
  if (recorder.contradiction()) std::abort();
  return 0;
}
