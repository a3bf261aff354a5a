// SPDX-License-Identifier: GPL-3.0-or-later
// A request that runs in the engine, and its answer to the client: in one piece or as a stream. Open this
// file to change how runs are answered.
#pragma once

#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"
#include "engine/remote/server/engine.h"
#include "engine/remote/server/planned_call.h"
#include "engine/remote/server/served_address.h"
#include "engine/remote/server/served_requests.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace spanscope::server {

/// Writes an error as the response to a request.
void refuse(httplib::Response& reply, const ApiError& error);

/// The server's objects that answers need. All these objects must outlive the answers.
struct Answering {
  ServerMetrics& metrics;
  const ServedAddress& address;
  const text::Tokenizer& tokenizer;
};

/// A run with the thread that answers. The destructor stops a run in progress.
class ServedRun {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins the run. `running` counts the runs that the engine has not ended. `hasBegun` gets the number of
  /// the run; this function may be empty.
  ServedRun(PlannedCall call, Gate::Pass turn, ServedRequests& requests, ServedRequest about,
            ServerMetrics& metrics, std::atomic<std::size_t>& running, std::function<void(RunId)> hasBegun,
            Engine& engine);
  ~ServedRun();
  ServedRun(const ServedRun&) = delete;
  ServedRun& operator=(const ServedRun&) = delete;

  const PlannedCall& call() const;
  Answer& answer();
  Clock::time_point began() const;

 private:
  class Listener;
  std::shared_ptr<Listener> m_listener;
  std::unique_ptr<RunHandle> m_handle;
};

void answerWhole(ServedRun& run, ReplyHead head, const Answering& answering, httplib::Response& reply);
void answerInPieces(std::shared_ptr<ServedRun> run, ReplyHead head, const Answering& answering,
                    httplib::Response& reply);

}  // namespace spanscope::server
