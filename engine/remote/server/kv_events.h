// SPDX-License-Identifier: GPL-3.0-or-later
// Writes events about cached blocks in the form that vLLM (0.32 and later) publishes. Events are maps, in a
// batch that is an array. Open this file when a client cannot read the KV events.
//
// Publishes KV events over ZeroMQ. Open this file to change the sockets of KV events.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::server {

/// vLLM's word for the memory of the computing device.
inline constexpr char kDeviceMedium[] = "GPU";

/// vLLM's word for a cache in which a token attends to all earlier tokens. This is the default.
inline constexpr char kFullAttention[] = "full_attention";

/// The inputs of a block key besides the tokens, such as the salt of the request. Nothing: there are no such
/// inputs.
using KvExtraKeys = std::optional<std::vector<std::string>>;

/// Blocks of one chain, in order. An empty optional field is null. Fields marked "left out if empty" are left
/// out.
struct KvBlocksStored {
  std::vector<std::uint64_t> hashes;
  std::optional<std::uint64_t>
      parent;  ///< hash of the block before the first block; nothing: the first block begins a chain
  std::vector<TokenId> tokens;  ///< tokens of all blocks
  std::int32_t blockSize = 16;
  std::optional<std::int64_t> loraId{};
  std::optional<std::string> medium = kDeviceMedium;
  std::optional<std::string> loraName{};
  std::optional<std::vector<KvExtraKeys>> extraKeys{};  ///< extra keys by block; left out if empty
  std::optional<std::int64_t> group{};  ///< group of layers that share blocks; left out if empty
  std::optional<std::string> kind{};    ///< kind of the cache; left out if empty
  bool operator==(const KvBlocksStored&) const = default;
};
struct KvBlocksRemoved {
  std::vector<std::uint64_t> hashes;
  std::optional<std::string> medium = kDeviceMedium;
  std::optional<std::int64_t> group{};  ///< left out if empty
  bool operator==(const KvBlocksRemoved&) const = default;
};
struct KvCleared {
  bool operator==(const KvCleared&) const = default;
};
using KvEvent = std::variant<KvBlocksStored, KvBlocksRemoved, KvCleared>;

struct KvBatch {
  double time = 0;  ///< seconds since 1970
  std::vector<KvEvent> events;
  std::optional<std::int64_t> rank = 0;  ///< rank of data parallelism
};

/// Returns the payload of the message.
std::string packed(const KvBatch& batch);

/// Makes KV events from the events of a session. Only full blocks are reported, because vLLM has only full
/// blocks. The hash of a block is the low 64 bits of the block key. A block with several copies is stored
/// once and removed with the last copy.
class KvEventForm {
 public:
  explicit KvEventForm(std::int32_t blockSize) : m_blockSize(blockSize) {}

  /// Sets the extra key of the first block of each chain that this run stores. Any thread may call this
  /// function.
  void setExtraKey(RunId run, std::string key);

  /// Takes the next event of the session. Returns the collected events when the engine ends a forward pass or
  /// a run, or clears its cache.
  std::vector<KvEvent> take(const trace::Event& event);

 private:
  void stored(const trace::BlockStored& block, RunId run);
  KvExtraKeys extraKeysOf(RunId run);
  void removed(const trace::BlockRemoved& block);

  std::int32_t m_blockSize;
  std::map<std::uint64_t, std::uint32_t> m_copies;  ///< number of copies by hash
  std::vector<KvEvent> m_waiting;
  std::mutex m_mutex;                        ///< guards the next member
  std::map<RunId, std::string> m_extraKeys;  ///< extra keys by run
};

/// Writes MessagePack. Every value has the shortest form, except that floating-point numbers take 8 bytes, as
/// in msgspec. After a container of N values, the caller adds N values (2 N for a map).
class MessagePack {
 public:
  void beginArray(std::size_t size);
  void beginMap(std::size_t size);
  /// Begins a map of at most 65535 pairs. The size takes two bytes. In msgspec, a struct that may have more
  /// than 15 fields has this form.
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

struct KvPublisherConfig {
  std::string endpoint;        ///< "tcp://127.0.0.1:5557"
  std::string replayEndpoint;  ///< empty: nothing is replayed
  std::string topic = "kv-events";
  std::size_t keptBatches = 10'000;                    ///< max number of batches for replays
  std::uint64_t keptBytes = std::uint64_t{64} << 20U;  ///< max bytes for replays
};

/// Publishes batches of events over ZeroMQ, like vLLM's ZmqEventPublisher. publish() never waits. Without
/// readers, messages are dropped. Readers notice the gap in the sequence numbers. There are two sockets:
/// - A PUB socket sends messages of three frames: topic, sequence number from 0 in 8 bytes, payload.
/// - A ROUTER socket replays. A DEALER sends ["", first sequence number]. The DEALER gets one ["", topic,
///   number, payload] per message, then ["", "", −1, ""].
class KvPublisher {
 public:
  /// Throws Failure for an endpoint that cannot be opened, or that other machines could reach. ZeroMQ has no
  /// keys.
  explicit KvPublisher(KvPublisherConfig config);
  ~KvPublisher();  ///< sends the published messages first, with a short time limit
  KvPublisher(const KvPublisher&) = delete;
  KvPublisher& operator=(const KvPublisher&) = delete;

  /// Returns the endpoint with its actual port. Empty: there is no endpoint.
  std::string endpoint() const;
  std::string replayEndpoint() const;

  /// Any thread may call this.
  void publish(std::vector<KvEvent> events);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
