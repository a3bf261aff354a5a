// SPDX-License-Identifier: GPL-3.0-or-later
// A server in front of one or more servers. Requests of OpenAI's API pass unchanged. Marked chats and span
// queries are planned, and ordered for the cache of the upstream server. Each request becomes a run in a
// trace. Open this file first when you work on the gateway.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/server/served_address.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::gateway {

struct UpstreamConfig {
  std::string name;             ///< for the user: "gpu-3"; different for each server
  std::string url;              ///< "http://gpu-3:8000", with or without /v1
  remote::HttpAccess access{};  ///< the key is sent if the client sends no key
  bool keepsOrder = false;      ///< the children of each plus keep the written order
  bool hasOrderNote = false;    ///< another order is sent with the notes of workbench::orderNotes()
};

/// With `keys`, no client key goes to an upstream server. Without `keepsTexts`, the traces and the log have
/// no texts.
struct GatewayConfig : server::AddressConfig {
  std::vector<UpstreamConfig> upstreams;  ///< at least one.
  /// Max difference of running requests between the server with the best cache and the least busy server.
  std::size_t mostAhead = 4;
  std::shared_ptr<const text::Tokenizer> tokenizer;  ///< never null; its tokens count as those of the servers
  const text::ChatTemplate* chat = nullptr;          ///< never null; outlives the gateway
  std::string model;                                 ///< name of the model of the tokens
  std::optional<std::int64_t> tokenBytes{};          ///< CacheFacts::tokenBytes of this model
  std::string program;                               ///< name and version, for traces
  RunId lastRun = 0;                                 ///< the runs of the gateway have later numbers
  RequestId lastRequest = 0;
  /// As RunBook::log.
  std::function<void(const std::string& line)> log{};
};

/// Returns the path of the recording of a server: `path` for the first server, then NAME-2.trace and so on.
/// `server`: index.
std::string recordingOf(const std::string& path, std::size_t server);

/// The state of an upstream server, for the user.
struct UpstreamState {
  std::string name;
  std::string url;
  bool isKnown = false;  ///< the server has reported its facts
  remote::ServerFacts facts{};
  std::string problem{};  ///< why the server gets no requests at the moment; empty: it gets requests
  std::size_t running = 0;
  std::uint64_t answered = 0;
};

class Gateway {
 public:
  /// Opens the address. Throws Failure like server::Server, and for an address of an upstream server that is
  /// no address.
  explicit Gateway(GatewayConfig config);
  /// Breaks off running requests.
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  std::string url() const;  ///< "http://127.0.0.1:8000"
  int port() const;

  /// Begins to answer requests and to ask the upstream servers for their facts, on new threads.
  void start();
  /// Waits until every upstream server has reported its facts, but at most this time. Returns whether every
  /// server has.
  bool awaitFacts(std::chrono::milliseconds most);
  /// Refuses new requests with 503. Running requests can finish until the time limit or until `hurry`.
  void finish(const std::stop_token& hurry = {});

  server::ServedRequests& requests();
  /// The traces of the upstream servers, in the order of the configuration. Drain the recorders, or their
  /// queues drop events.
  std::vector<std::shared_ptr<trace::Recorder>> recorders() const;
  std::vector<UpstreamState> upstreams() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::gateway
