// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between a server and the engine. The run service and test doubles implement this interface.
// Open this file to serve another engine.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::text {
struct ChatTemplate;
class Tokenizer;
}  // namespace spanscope::text

namespace spanscope::server {

/// The model of the server.
struct ServedModel {
  std::string name;
  std::string fingerprint;   ///< fingerprint of the configuration and the weights
  std::int64_t context = 0;  ///< max tokens of a prompt with its answer
  std::int32_t blockSize = 16;
  std::int64_t blocks = 0;                     ///< physical blocks that can be used
  std::int32_t answerTokens = 256;             ///< default max tokens of an answer
  const text::Tokenizer* tokenizer = nullptr;  ///< never null; valid as long as the engine
  const text::ChatTemplate* chat = nullptr;    ///< never null; valid as long as the engine
};

/// How a run ended.
struct RunEnd {
  enum class How : std::uint8_t { Finished, Stopped, Failed };
  How how = How::Finished;
  std::string problem{};   ///< the reason of a failure, in words
  bool isOfInput = false;  ///< the request caused the failure, e.g. a prompt that is too long
  std::optional<run::TooLongPrompt> tooLong{};  ///< set if the prompt is longer than the context
};

/// Listens to one run. A thread of the engine calls the listener, and never two threads at the same time. The
/// functions must return soon and must not throw.
class RunListener {
 public:
  virtual ~RunListener() = default;
  /// An event of the run, from RunStarted to RunFinished.
  virtual void onEvent(const trace::Event& event) = 0;
  /// The end of the run. No event follows.
  virtual void onEnd(const RunEnd& end) = 0;
};

/// A handle of a run that has begun. The destructor does not stop the run.
class RunHandle {
 public:
  virtual ~RunHandle() = default;
  /// Requests a stop of the run. onEnd() reports the end. Any thread may call this function, even after the
  /// end.
  virtual void stop() = 0;
};

struct RunOrder {
  std::shared_ptr<const plan::Plan> plan;  ///< not null
  run::RunOptions options;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual const ServedModel& model() const = 0;
  /// Begins a run, or queues it. Any thread may call this.
  virtual std::unique_ptr<RunHandle> begin(RunOrder order, std::shared_ptr<RunListener> listener) = 0;
  /// Calls `listener` for every event of the session, in order. An empty listener ends these calls. The rules
  /// of trace::Recorder::setListener() apply.
  virtual void setListener(std::function<void(const trace::Event&)> listener) = 0;
};

}  // namespace spanscope::server
