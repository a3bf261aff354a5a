// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values of one block outside of the pool.
#pragma once

#include "engine/cache/store/content_name.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace spanscope::cache {

/// A content as a tier keeps it.
struct StoredFacts {
  ContentName name;
  ContentName parent;
  std::int32_t tokens = 0;  ///< token slots
  std::int64_t base = 0;    ///< base position of the segment that the content was stored for
};

/// The model that a stored block belongs to.
struct StoreOwner {
  std::string fingerprint;      ///< see CacheConfig::fingerprint
  std::string model;            ///< shown to people
  std::uint32_t slotBytes = 0;  ///< of one token slot
};

class Pack;

/// The checked keys and values of a block. The holder keeps the memory valid as long as this object lives.
struct StoredBytes {
  StoredFacts facts;
  trace::StoreTier tier = trace::StoreTier::Host;
  std::span<const std::byte> bytes;  ///< slots one after the other
  std::shared_ptr<const void> holder;
  const Pack* pack = nullptr;    ///< the pack in which the bytes lie; null if they lie in none
  std::int64_t nanoseconds = 0;  ///< how long fetching the bytes took
};

}  // namespace spanscope::cache
