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
  std::int64_t base = 0;    ///< base position of the segment it was stored for
};

/// Whose a stored block is.
struct StoreOwner {
  std::string fingerprint;      ///< see CacheConfig::fingerprint
  std::string model;            ///< for people
  std::uint32_t slotBytes = 0;  ///< of one token slot
};

class Pack;

/// Its keys and values, checked. What holds them is kept as long as this is.
struct StoredBytes {
  StoredFacts facts;
  trace::StoreTier tier = trace::StoreTier::Host;
  std::span<const std::byte> bytes;  ///< slots one after the other
  std::shared_ptr<const void> holder;
  const Pack* pack = nullptr;    ///< the file that they lie in; null where they lie in none
  std::int64_t nanoseconds = 0;  ///< that it took to have them
};

}  // namespace spanscope::cache
