// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to blocks that can be found, in the form in which vLLM (0.32 and later) publishes it: events
// as maps, within a batch that is an array.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::server {

/// vLLM's word for the memory of the device that computes.
inline constexpr char kDeviceMedium[] = "GPU";

/// vLLM's word for a cache in which a token attends to all earlier ones, unless it says otherwise.
inline constexpr char kFullAttention[] = "full_attention";

/// What decides about a block beside its tokens, such as the salt of its request; nothing: nothing does.
using KvExtraKeys = std::optional<std::vector<std::string>>;

/// Blocks of one chain, in order. An optional field that is empty is null, or left out where it says so.
struct KvBlocksStored {
  std::vector<std::uint64_t> hashes;
  std::optional<std::uint64_t> parent;  ///< hash of the block before the first; nothing: it begins a chain
  std::vector<TokenId> tokens;          ///< of all blocks
  std::int32_t blockSize = 16;
  std::optional<std::int64_t> loraId{};
  std::optional<std::string> medium = kDeviceMedium;
  std::optional<std::string> loraName{};
  std::optional<std::vector<KvExtraKeys>> extraKeys{};  ///< by block; or left out
  std::optional<std::int64_t> group{};                  ///< of layers that share blocks; or left out
  std::optional<std::string> kind{};                    ///< of the cache; or left out
  bool operator==(const KvBlocksStored&) const = default;
};
struct KvBlocksRemoved {
  std::vector<std::uint64_t> hashes;
  std::optional<std::string> medium = kDeviceMedium;
  std::optional<std::int64_t> group{};  ///< or left out
  bool operator==(const KvBlocksRemoved&) const = default;
};
struct KvCleared {
  bool operator==(const KvCleared&) const = default;
};
using KvEvent = std::variant<KvBlocksStored, KvBlocksRemoved, KvCleared>;

struct KvBatch {
  double time = 0;  ///< seconds since 1970
  std::vector<KvEvent> events;
  std::optional<std::int64_t> rank = 0;  ///< of data parallelism
};

/// The payload of the message.
std::string packed(const KvBatch& batch);

/// Makes such events of those of a session. Only full blocks are told of, by the low 64 bits of their keys:
/// vLLM knows no others. A block of which there are several copies is stored once and removed with the last.
class KvEventForm {
 public:
  explicit KvEventForm(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// The first block of each chain that this run stores has this extra key. On any thread.
  void setExtraKey(RunId run, std::string key);

  /// Takes the next event of the session. Returns what has gathered when the engine comes to the end of a
  /// pass, of a run or of its cache, and something has.
  std::vector<KvEvent> take(const trace::Event& event);

 private:
  void stored(const trace::BlockStored& block, RunId run);
  KvExtraKeys extraKeysOf(RunId run);
  void removed(const trace::BlockRemoved& block);

  std::int32_t m_blockSize;
  std::map<std::uint64_t, std::uint32_t> m_copies;  ///< by hash
  std::vector<KvEvent> m_waiting;
  std::mutex m_mutex;                        ///< of what follows
  std::map<RunId, std::string> m_extraKeys;  ///< of runs that have one
};

/// Writes MessagePack: every value in the shortest form, except that numbers with a point take 8 bytes, as
/// msgspec writes it. A container is followed by as many values as it was begun with (twice as many for a
/// map).
class MessagePack {
 public:
  void beginArray(std::size_t size);
  void beginMap(std::size_t size);
  /// A map of at most 65535 pairs whose size takes two bytes, however small it is: so msgspec writes a struct
  /// that could have more than 15 fields.
  void beginLongMap(std::size_t size);
  void add(std::string_view text);  ///< in UTF-8
  void add(std::uint64_t number);
  void add(std::int64_t number);
  void add(double number);
  void addNil();

  const std::string& bytes() const { return m_bytes; }

 private:
  void byte(std::uint64_t value) { m_bytes += static_cast<char>(static_cast<unsigned char>(value)); }
  void bigEndian(std::uint64_t value, int count);

  std::string m_bytes;
};

}  // namespace spanscope::server
