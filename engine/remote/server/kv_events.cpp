// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/kv_events.h"

#include "engine/base/error.h"
#include "engine/remote/server/access.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <deque>
#include <system_error>
#include <thread>
#include <utility>

namespace spanscope::server {

namespace {

void addHashes(MessagePack& pack, const std::vector<std::uint64_t>& hashes) {
  pack.add(std::string_view("block_hashes"));
  pack.beginArray(hashes.size());
  for (const std::uint64_t hash : hashes) pack.add(hash);
}

template <class Value>
void addField(MessagePack& pack, std::string_view key, const std::optional<Value>& value) {
  pack.add(key);
  if (!value)
    pack.addNil();
  else if constexpr (std::is_same_v<Value, std::string>)
    pack.add(std::string_view(*value));
  else
    pack.add(*value);
}

std::size_t countOf(bool isPresent) {
  return isPresent ? 1 : 0;
}

void addExtraKeys(MessagePack& pack, const std::vector<KvExtraKeys>& blocks) {
  pack.add(std::string_view("extra_keys"));
  pack.beginArray(blocks.size());
  for (const KvExtraKeys& keys : blocks) {
    if (!keys) {
      pack.addNil();
      continue;
    }
    pack.beginArray(keys->size());
    for (const std::string& key : *keys) pack.add(std::string_view(key));
  }
}

void addEvent(MessagePack& pack, const KvBlocksStored& stored) {
  constexpr std::size_t kFields = 8;
  pack.beginLongMap(kFields + countOf(stored.extraKeys.has_value()) + countOf(stored.group.has_value()) +
                    countOf(stored.kind.has_value()));
  pack.add(std::string_view("type"));
  pack.add(std::string_view("BlockStored"));
  addHashes(pack, stored.hashes);
  addField(pack, "parent_block_hash", stored.parent);
  pack.add(std::string_view("token_ids"));
  pack.beginArray(stored.tokens.size());
  for (const TokenId token : stored.tokens) pack.add(std::int64_t{token});
  pack.add(std::string_view("block_size"));
  pack.add(std::int64_t{stored.blockSize});
  addField(pack, "lora_id", stored.loraId);
  addField(pack, "medium", stored.medium);
  addField(pack, "lora_name", stored.loraName);
  if (stored.extraKeys) addExtraKeys(pack, *stored.extraKeys);
  if (stored.group) addField(pack, "group_idx", stored.group);
  if (stored.kind) addField(pack, "kv_cache_spec_kind", stored.kind);
}

void addEvent(MessagePack& pack, const KvBlocksRemoved& removed) {
  constexpr std::size_t kFields = 3;
  pack.beginMap(kFields + countOf(removed.group.has_value()));
  pack.add(std::string_view("type"));
  pack.add(std::string_view("BlockRemoved"));
  addHashes(pack, removed.hashes);
  addField(pack, "medium", removed.medium);
  if (removed.group) addField(pack, "group_idx", removed.group);
}

void addEvent(MessagePack& pack, const KvCleared& /*cleared*/) {
  pack.beginMap(1);
  pack.add(std::string_view("type"));
  pack.add(std::string_view("AllBlocksCleared"));
}

}  // namespace

std::string packed(const KvBatch& batch) {
  MessagePack pack;
  pack.beginArray(3);
  pack.add(batch.time);
  pack.beginArray(batch.events.size());
  for (const KvEvent& event : batch.events) std::visit([&](const auto& own) { addEvent(pack, own); }, event);
  if (batch.rank)
    pack.add(*batch.rank);
  else
    pack.addNil();
  return pack.bytes();
}

std::vector<KvEvent> KvEventForm::take(const trace::Event& event) {
  if (const auto* block = std::get_if<trace::BlockStored>(&event.payload)) {
    stored(*block, event.run);
    return {};
  }
  if (const auto* block = std::get_if<trace::BlockRemoved>(&event.payload)) {
    removed(*block);
    return {};
  }
  if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
    m_copies.clear();
    m_waiting.emplace_back(std::in_place_type<KvCleared>);
    return std::exchange(m_waiting, {});
  }
  const bool isLast = std::holds_alternative<trace::RunFinished>(event.payload);
  if (isLast) {
    const std::lock_guard lock(m_mutex);
    m_extraKeys.erase(event.run);
  }
  const bool isEnd = isLast || std::holds_alternative<trace::BatchComputed>(event.payload);
  return isEnd ? std::exchange(m_waiting, {}) : std::vector<KvEvent>();
}

void KvEventForm::setExtraKey(RunId run, std::string key) {
  const std::lock_guard lock(m_mutex);
  m_extraKeys[run] = std::move(key);
}

KvExtraKeys KvEventForm::extraKeysOf(RunId run) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_extraKeys.find(run);
  return found == m_extraKeys.end() ? KvExtraKeys() : KvExtraKeys({found->second});
}

void KvEventForm::stored(const trace::BlockStored& block, RunId run) {
  if (static_cast<std::int32_t>(block.tokens.size()) != m_blockSize) return;
  if (m_copies[block.key.low]++ > 0) return;
  const std::optional<std::uint64_t> parent =
      block.virtualIndex > 0 ? std::optional(block.parent.low) : std::nullopt;
  if (!m_waiting.empty()) {
    auto* last = std::get_if<KvBlocksStored>(&m_waiting.back());
    if (last != nullptr && parent && last->hashes.back() == *parent) {
      last->hashes.push_back(block.key.low);
      last->extraKeys->emplace_back();
      last->tokens.insert(last->tokens.end(), block.tokens.begin(), block.tokens.end());
      return;
    }
  }
  auto& made = std::get<KvBlocksStored>(m_waiting.emplace_back(std::in_place_type<KvBlocksStored>));
  made.hashes.push_back(block.key.low);
  made.parent = parent;
  made.tokens = block.tokens;
  made.blockSize = m_blockSize;
  made.extraKeys.emplace().push_back(parent ? KvExtraKeys() : extraKeysOf(run));
  made.group = 0;
  made.kind = kFullAttention;
}

void KvEventForm::removed(const trace::BlockRemoved& block) {
  // Blocks that are removed with the whole cache are reported together.
  if (block.reason == trace::RemovalReason::Cleared) return;
  const auto found = m_copies.find(block.key.low);
  if (found == m_copies.end() || --found->second > 0) return;
  m_copies.erase(found);
  if (!m_waiting.empty()) {
    if (auto* last = std::get_if<KvBlocksRemoved>(&m_waiting.back()))
      return last->hashes.push_back(block.key.low);
  }
  auto& made = std::get<KvBlocksRemoved>(m_waiting.emplace_back(std::in_place_type<KvBlocksRemoved>));
  made.hashes.push_back(block.key.low);
  made.group = 0;
}

void MessagePack::bigEndian(std::uint64_t value, int count) {
  constexpr int kByteBits = 8;
  for (int i = count - 1; i >= 0; --i) byte(value >> static_cast<unsigned>(i * kByteBits));
}

void MessagePack::beginArray(std::size_t size) {
  if (size < 16) return byte(0x90U + size);
  byte(size <= 0xFFFF ? 0xDC : 0xDD);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginMap(std::size_t size) {
  if (size < 16) return byte(0x80U + size);
  byte(size <= 0xFFFF ? 0xDE : 0xDF);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginLongMap(std::size_t size) {
  byte(0xDE);
  bigEndian(size, 2);
}

void MessagePack::add(std::string_view text) {
  const std::size_t size = text.size();
  if (size < 32) {
    byte(0xA0U + size);
  } else {
    byte(size <= 0xFF ? 0xD9 : size <= 0xFFFF ? 0xDA : 0xDB);
    bigEndian(size, size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : 4);
  }
  m_bytes += text;
}

void MessagePack::add(std::uint64_t number) {
  if (number < 0x80) return byte(number);
  const int bytes = number <= 0xFF ? 0 : number <= 0xFFFF ? 1 : number <= 0xFFFFFFFF ? 2 : 3;
  byte(0xCCU + static_cast<unsigned>(bytes));
  bigEndian(number, 1 << bytes);
}

void MessagePack::add(std::int64_t number) {
  if (number >= 0) return add(static_cast<std::uint64_t>(number));
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= -32) return byte(bits);
  const int bytes = number >= -0x80 ? 0 : number >= -0x8000 ? 1 : number >= -0x80000000LL ? 2 : 3;
  byte(0xD0U + static_cast<unsigned>(bytes));
  bigEndian(bits, 1 << bytes);
}

void MessagePack::add(double number) {
  byte(0xCB);
  bigEndian(std::bit_cast<std::uint64_t>(number), 8);
}

void MessagePack::addNil() {
  byte(0xC0);
}

namespace {

constexpr int kLinger = 200;         ///< milliseconds to send the remaining messages at the end
constexpr int kHighWater = 100'000;  ///< messages that wait for a slow reader
constexpr long kLook = 5;            ///< milliseconds between checks of the queue

std::string bigEndian(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8U)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(number));
  return bytes;
}

[[noreturn]] void refuseEndpoint(const std::string& endpoint, const std::string& problem,
                                 const std::string& expected) {
  throw Failure(
      errorAt("endpoint of KV events", endpoint + (problem.empty() ? "" : " (" + problem + ")"), expected));
}

/// ZeroMQ takes a port modulo 65536.
void checkPort(const std::string& endpoint) {
  constexpr unsigned kMostPort = 65'535;
  const std::string_view text = std::string_view(endpoint).substr(endpoint.rfind(':') + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool isNumber = error == std::errc() && end == text.data() + text.size() && port <= kMostPort;
  if (text != "*" && !isNumber)
    refuseEndpoint(endpoint, {}, "a port from 0 to " + std::to_string(kMostPort) + ", or * for any");
}

/// ZeroMQ deletes a file that has the name of its socket. A socket without a listener remains from an earlier
/// run.
void checkFile(const std::string& endpoint, const std::string& file) {
  const std::string expected = "ipc://FILE with a FILE that does not exist";
  if (file.empty()) refuseEndpoint(endpoint, {}, expected);
  // The address is a name that ZeroMQ chooses, or a name without a file.
  if (file == "*" || file.front() == '@') return;
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) refuseEndpoint(endpoint, "the file exists and is not a socket", expected);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (file.size() >= sizeof address.sun_path) return;
  file.copy(address.sun_path, file.size());
  const int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (other < 0) return;
  const bool isTaken = connect(other, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(other);
  if (isTaken) refuseEndpoint(endpoint, "another program listens at this endpoint", expected);
}

void checkEndpoint(const std::string& endpoint) {
  constexpr std::string_view kTcp = "tcp://";
  constexpr std::string_view kIpc = "ipc://";
  if (endpoint.starts_with(kIpc)) return checkFile(endpoint, endpoint.substr(kIpc.size()));
  const bool isTcp = endpoint.starts_with(kTcp);
  const std::string host = isTcp ? hostIn(std::string_view(endpoint).substr(kTcp.size())) : std::string();
  if (!isTcp || !isLoopback(host))
    refuseEndpoint(endpoint, {},
                   "tcp://127.0.0.1:PORT or ipc://FILE, because ZeroMQ cannot authenticate clients");
  checkPort(endpoint);
}

struct CloseSocket {
  void operator()(void* socket) const { zmq_close(socket); }
};
using Socket = std::unique_ptr<void, CloseSocket>;

Socket bound(void* context, int type, const std::string& endpoint) {
  Socket socket(zmq_socket(context, type));
  if (socket) {
    zmq_setsockopt(socket.get(), ZMQ_LINGER, &kLinger, sizeof kLinger);
    zmq_setsockopt(socket.get(), ZMQ_SNDHWM, &kHighWater, sizeof kHighWater);
    if (zmq_bind(socket.get(), endpoint.c_str()) == 0) return socket;
  }
  refuseEndpoint(endpoint, zmq_strerror(zmq_errno()), "a free address");
}

/// The endpoint of a bound socket: a port number instead of 0 or *.
std::string boundEndpoint(const Socket& socket, const std::string& asked) {
  if (!socket) return {};
  std::array<char, 512> text{};
  std::size_t size = text.size();
  if (zmq_getsockopt(socket.get(), ZMQ_LAST_ENDPOINT, text.data(), &size) != 0) return asked;
  return text.data();
}

}  // namespace

struct KvPublisher::Impl {
  struct Message {
    std::uint64_t number = 0;
    std::string payload;
  };

  explicit Impl(KvPublisherConfig given) : config(std::move(given)) {
    checkEndpoint(config.endpoint);
    if (!config.replayEndpoint.empty()) checkEndpoint(config.replayEndpoint);
    context.reset(zmq_ctx_new());
    publishing = bound(context.get(), ZMQ_PUB, config.endpoint);
    if (!config.replayEndpoint.empty()) replaying = bound(context.get(), ZMQ_ROUTER, config.replayEndpoint);
    boundTo = boundEndpoint(publishing, config.endpoint);
    replayBoundTo = boundEndpoint(replaying, config.replayEndpoint);
    thread = std::thread([this] { work(); });
  }
  ~Impl() {
    isEnding = true;
    if (thread.joinable()) thread.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void work();
  void replay();
  void sendNew();
  static bool send(const Socket& socket, const std::vector<std::string_view>& frames);

  struct EndContext {
    void operator()(void* own) const { zmq_ctx_term(own); }
  };

  const KvPublisherConfig config;
  std::unique_ptr<void, EndContext> context;  ///< outlives its sockets
  Socket publishing;
  Socket replaying;
  std::string boundTo;
  std::string replayBoundTo;
  std::atomic<bool> isEnding = false;
  std::mutex mutex;
  std::deque<Message> waiting;
  std::uint64_t next = 0;
  std::deque<Message> kept;  ///< used only by the thread
  std::uint64_t keptBytes = 0;
  std::thread thread;
};

/// Sends without waiting. False: no reader accepts the message.
bool KvPublisher::Impl::send(const Socket& socket, const std::vector<std::string_view>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int flags = ZMQ_DONTWAIT | (i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket.get(), frames[i].data(), frames[i].size(), flags) < 0) return false;
  }
  return true;
}

void KvPublisher::Impl::sendNew() {
  while (true) {
    Message message;
    {
      const std::lock_guard lock(mutex);
      if (waiting.empty()) return;
      message = std::move(waiting.front());
      waiting.pop_front();
    }
    send(publishing, {config.topic, bigEndian(message.number), message.payload});
    if (!replaying) continue;
    keptBytes += message.payload.size();
    kept.push_back(std::move(message));
    while (kept.size() > config.keptBatches || keptBytes > config.keptBytes) {
      keptBytes -= kept.front().payload.size();
      kept.pop_front();
    }
  }
}

/// Answers one request of the ROUTER. Its frames: the client, an empty frame, the first number.
void KvPublisher::Impl::replay() {
  std::vector<std::string> asked;
  int hasMore = 1;
  while (hasMore != 0) {
    std::array<char, 512> buffer{};
    const int size = zmq_recv(replaying.get(), buffer.data(), buffer.size(), ZMQ_DONTWAIT);
    if (size < 0) return;
    // A frame that is longer than any request is truncated, so the frame is not a request.
    if (asked.size() < 4)
      asked.emplace_back(buffer.data(), std::min(static_cast<std::size_t>(size), buffer.size()));
    std::size_t length = sizeof hasMore;
    if (zmq_getsockopt(replaying.get(), ZMQ_RCVMORE, &hasMore, &length) != 0) return;
  }
  constexpr std::size_t kNumberBytes = 8;
  if (asked.size() != 3 || !asked[1].empty() || asked[2].size() != kNumberBytes) return;
  std::uint64_t first = 0;
  for (const char byte : asked[2]) first = first << 8U | static_cast<unsigned char>(byte);
  for (const Message& message : kept) {
    if (message.number < first) continue;
    if (!send(replaying, {asked[0], "", config.topic, bigEndian(message.number), message.payload})) return;
  }
  const std::string end(kNumberBytes, '\xFF');
  send(replaying, {asked[0], "", "", end, ""});
}

void KvPublisher::Impl::work() {
  while (true) {
    const bool wasEnding = isEnding;
    sendNew();
    if (wasEnding) return;
    if (!replaying) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kLook));
      continue;
    }
    zmq_pollitem_t item{.socket = replaying.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0};
    if (zmq_poll(&item, 1, kLook) > 0) replay();
  }
}

KvPublisher::KvPublisher(KvPublisherConfig config) : m_impl(std::make_unique<Impl>(std::move(config))) {}

KvPublisher::~KvPublisher() = default;

std::string KvPublisher::endpoint() const {
  return m_impl->boundTo;
}

std::string KvPublisher::replayEndpoint() const {
  return m_impl->replayBoundTo;
}

void KvPublisher::publish(std::vector<KvEvent> events) {
  if (events.empty()) return;
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  std::string payload = packed({.time = now.count(), .events = std::move(events)});
  const std::lock_guard lock(m_impl->mutex);
  m_impl->waiting.push_back({.number = m_impl->next++, .payload = std::move(payload)});
  constexpr std::size_t kMostWaiting = 100'000;
  if (m_impl->waiting.size() > kMostWaiting) m_impl->waiting.pop_front();
}

}  // namespace spanscope::server
