// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/event_subscriber.h"

#include "engine/remote/watch/event_batch.h"

#include <zmq.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::watch {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWait = 20;                                ///< milliseconds between checks for the end
constexpr std::chrono::milliseconds kReplayTime(2'000);  ///< max silence of a replay endpoint
constexpr std::chrono::milliseconds kSettleTime(250);    ///< for the first connection
constexpr std::size_t kNumberBytes = 8;
constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();  ///< number of the end of a replay
constexpr std::int64_t kMostMessage = std::int64_t{256} << 20U;            ///< bytes
constexpr int kHighWater = 1'000'000;  ///< messages that wait for this thread

struct CloseEventSocket {
  void operator()(void* socket) const { zmq_close(socket); }
};
using EventSocket = std::unique_ptr<void, CloseEventSocket>;

struct EndEventContext {
  void operator()(void* own) const { zmq_ctx_term(own); }
};

[[noreturn]] void refuseWatched(const std::string& endpoint, const std::string& problem) {
  throw Failure(errorAt("endpoint of KV events", endpoint + (problem.empty() ? "" : " (" + problem + ")"),
                        "tcp://HOST:PORT or ipc://FILE, as in the server's --kv-events-config"));
}

EventSocket opened(void* context, int type, const std::string& endpoint, bool binds) {
  // Other transports of ZeroMQ need programs in the same process, or rights of an administrator.
  if (!endpoint.starts_with("tcp://") && !endpoint.starts_with("ipc://")) refuseWatched(endpoint, {});
  EventSocket socket(zmq_socket(context, type));
  const int none = 0;
  if (socket) {
    zmq_setsockopt(socket.get(), ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(socket.get(), ZMQ_RCVHWM, &kHighWater, sizeof kHighWater);
    zmq_setsockopt(socket.get(), ZMQ_MAXMSGSIZE, &kMostMessage, sizeof kMostMessage);
    const int result =
        binds ? zmq_bind(socket.get(), endpoint.c_str()) : zmq_connect(socket.get(), endpoint.c_str());
    if (result == 0) return socket;
  }
  refuseWatched(endpoint, zmq_strerror(zmq_errno()));
}

/// Receives all frames of a message without waiting; nothing: there is no message.
std::optional<std::vector<std::string>> receiveFrames(const EventSocket& socket) {
  constexpr std::size_t kMostFrames = 16;
  std::vector<std::string> frames;
  int hasMore = 1;
  while (hasMore != 0) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket.get(), ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&message);
      return std::nullopt;
    }
    if (frames.size() < kMostFrames)
      frames.emplace_back(static_cast<const char*>(zmq_msg_data(&message)), zmq_msg_size(&message));
    hasMore = zmq_msg_more(&message);
    zmq_msg_close(&message);
  }
  return frames;
}

std::optional<std::uint64_t> numberIn(std::string_view bytes) {
  if (bytes.size() != kNumberBytes) return std::nullopt;
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

std::string bytesOf(std::uint64_t number) {
  std::string bytes(kNumberBytes, '\0');
  for (std::size_t i = bytes.size(); i-- > 0; number >>= 8U)
    bytes[i] = static_cast<char>(static_cast<unsigned char>(number));
  return bytes;
}

}  // namespace

struct EventSubscriber::Impl {
  struct Message {
    std::uint64_t number = 0;
    std::string payload;
  };

  Impl(SubscriberConfig given, SubscriberListener& to) : config(std::move(given)), listener(to) {
    next = config.first;
    context.reset(zmq_ctx_new());
    const bool hasStar = config.endpoint.find('*') != std::string::npos;
    receiving = opened(context.get(), ZMQ_SUB, config.endpoint, config.binds || hasStar);
    zmq_setsockopt(receiving.get(), ZMQ_SUBSCRIBE, config.topic.data(), config.topic.size());
    if (!config.replayEndpoint.empty()) openReplay();
    thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  void openReplay() { asking = opened(context.get(), ZMQ_DEALER, config.replayEndpoint, false); }
  bool wait(const EventSocket& socket) const;
  void work(const std::stop_token& stop);
  void attach(const std::stop_token& stop);
  void takeNew();
  bool replay(std::uint64_t to, const std::stop_token& stop);
  bool deliverAhead();
  void close(std::uint64_t before, const std::stop_token& stop);
  void sort(const std::stop_token& stop);
  bool deliver(const Message& message);

  const SubscriberConfig config;
  SubscriberListener& listener;
  std::unique_ptr<void, EndEventContext> context;  ///< outlives its sockets
  EventSocket receiving;
  EventSocket asking;
  std::atomic<std::uint64_t> next = 0;
  std::vector<Message> waiting;  ///< received and not sorted yet, in the order of arrival
  /// Replayed messages after a missing one, by number.
  std::map<std::uint64_t, std::string> ahead;
  std::optional<double> lastTime;  ///< time of the last delivered batch
  bool hasBegun = false;           ///< a message was delivered, or the first number is known
  std::jthread thread;
};

bool EventSubscriber::Impl::wait(const EventSocket& socket) const {
  zmq_pollitem_t item{.socket = socket.get(), .fd = 0, .events = ZMQ_POLLIN, .revents = 0};
  return zmq_poll(&item, 1, kWait) > 0;
}

/// Passes a message on if its number is the next one. Returns false for a message that cannot be read.
bool EventSubscriber::Impl::deliver(const Message& message) {
  try {
    const server::KvBatch batch = readBatch(message.payload);
    hasBegun = true;
    lastTime = batch.time;
    listener.received(message.number, batch);
    next = message.number + 1;
    return true;
  } catch (const Failure& failure) {
    listener.refused(failure.error());
    return false;
  }
}

void EventSubscriber::Impl::takeNew() {
  while (auto frames = receiveFrames(receiving)) {
    // The frames are topic, number and payload. Without a topic, there are two.
    if (frames->size() < 2 || frames->size() > 3) continue;
    const std::optional<std::uint64_t> number = numberIn((*frames)[frames->size() - 2]);
    if (number) waiting.push_back({*number, std::move(frames->back())});
  }
}

/// Passes messages of `ahead` on as far as they are consecutive. Returns false for a message that cannot be
/// read.
bool EventSubscriber::Impl::deliverAhead() {
  while (!ahead.empty() && ahead.begin()->first <= next) {
    auto first = ahead.extract(ahead.begin());
    if (first.key() == next && !deliver({first.key(), std::move(first.mapped())})) return false;
  }
  return true;
}

/// Requests the messages from `next` on, and passes the numbers below `to` on. Returns whether all of them
/// came. Messages that the replay endpoint has from `to` on are passed on too if they are consecutive. Later
/// ones stay in `ahead`.
bool EventSubscriber::Impl::replay(std::uint64_t to, const std::stop_token& stop) {
  constexpr std::size_t kMostAhead = std::size_t{1} << 16U;
  // A new socket has no answers to an earlier request.
  openReplay();
  const std::string first = bytesOf(next);
  if (zmq_send(asking.get(), "", 0, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0 ||
      zmq_send(asking.get(), first.data(), first.size(), ZMQ_DONTWAIT) < 0)
    return false;
  bool isReadable = true;
  Clock::time_point heard = Clock::now();
  while (!stop.stop_requested() && Clock::now() - heard < kReplayTime) {
    takeNew();
    if (!wait(asking)) continue;
    while (auto frames = receiveFrames(asking)) {
      heard = Clock::now();
      if (stop.stop_requested()) return false;
      if (frames->size() < 3) continue;
      const std::optional<std::uint64_t> number = numberIn((*frames)[frames->size() - 2]);
      if (!number) continue;
      if (*number == kEnd) return isReadable && next >= to;
      if (*number < next) continue;
      if (!hasBegun && *number > next) {
        listener.startedLate(*number);
        next = *number;
      }
      if (*number != next) {
        if (ahead.size() < kMostAhead) ahead.emplace(*number, std::move(frames->back()));
      } else if (isReadable) {
        isReadable = deliver({*number, std::move(frames->back())}) && deliverAhead();
      }
    }
  }
  return false;
}

/// Tries to get the messages up to `before`, which has arrived. A publisher drops replayed messages if they
/// wait for the network. The request is then repeated as long as it brings a next message.
void EventSubscriber::Impl::close(std::uint64_t before, const std::stop_token& stop) {
  while (next < before) {
    listener.gapBegan(before - next);
    bool isFilled = false;
    if (!config.replayEndpoint.empty()) {
      for (std::uint64_t reached = before; reached != next && !isFilled && !stop.stop_requested();) {
        reached = next;
        isFilled = replay(before, stop);
      }
    }
    if (stop.stop_requested() && !isFilled) return;
    listener.gapEnded(isFilled);
    if (isFilled) break;
    // The messages after the lost ones can be there.
    const auto after = ahead.upper_bound(next);
    next = after == ahead.end() ? before : std::min(before, after->first);
    deliverAhead();
  }
  ahead.clear();
}

/// Passes the waiting messages on in the order of their numbers.
void EventSubscriber::Impl::sort(const std::stop_token& stop) {
  std::vector<Message> now = std::exchange(waiting, {});
  for (Message& message : now) {
    if (stop.stop_requested()) return;
    // The subscription took effect after the first messages, and after the first request for a replay.
    if (!hasBegun && message.number > next && !config.replayEndpoint.empty()) replay(message.number, stop);
    if (!hasBegun && message.number > next) {
      listener.startedLate(message.number);
      next = message.number;
    }
    if (message.number < next) {
      // The replay endpoint has sent the message before, or the publisher began again.
      bool isLater = false;
      try {
        isLater = lastTime && readBatch(message.payload).time > *lastTime;
      } catch (const Failure&) {
        continue;
      }
      if (!isLater) continue;
      listener.restarted();
      next = 0;
    }
    if (message.number > next) close(message.number, stop);
    if (message.number != next) continue;
    if (!deliver(message)) {
      listener.gapBegan(1);
      next = message.number + 1;
      listener.gapEnded(false);
    }
  }
}

void EventSubscriber::Impl::attach(const std::stop_token& stop) {
  if (config.replayEndpoint.empty()) return;
  // A subscription takes effect some time after the connection. What is published before is replayed.
  const Clock::time_point begin = Clock::now();
  while (!stop.stop_requested() && Clock::now() - begin < kSettleTime) {
    wait(receiving);
    takeNew();
    if (!waiting.empty()) break;
  }
  if (config.first > 0) hasBegun = true;
  replay(next, stop);
  if (!ahead.empty() && !stop.stop_requested()) close(ahead.rbegin()->first + 1, stop);
}

void EventSubscriber::Impl::work(const std::stop_token& stop) {
  attach(stop);
  while (!stop.stop_requested()) {
    sort(stop);
    if (wait(receiving)) takeNew();
  }
}

EventSubscriber::EventSubscriber(SubscriberConfig config, SubscriberListener& listener)
    : m_impl(std::make_unique<Impl>(std::move(config), listener)) {}

EventSubscriber::~EventSubscriber() = default;

std::uint64_t EventSubscriber::next() const {
  return m_impl->next;
}

}  // namespace spanscope::watch
