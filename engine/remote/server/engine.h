// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between a server and the engine. The run service implements it, and test doubles do too. Open
// this file to serve another engine.
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

/// The one model that is served.
struct ServedModel {
  std::string name;
  std::string fingerprint;   ///< of its configuration and weights
  std::int64_t context = 0;  ///< max tokens of a prompt with its answer
  std::int32_t blockSize = 16;
  std::int64_t blocks = 0;                     ///< physical blocks that can be used
  std::int32_t answerTokens = 256;             ///< limit of an answer without another limit
  const text::Tokenizer* tokenizer = nullptr;  ///< never null; valid as long as the engine
  const text::ChatTemplate* chat = nullptr;    ///< never null; valid as long as the engine
};

/// How a run ended.
struct RunEnd {
  enum class How : std::uint8_t { Finished, Stopped, Failed };
  How how = How::Finished;
  std::string problem{};   ///< the reason of a failure, in words
  bool isOfInput = false;  ///< the request caused the failure, e.g. a prompt that is too long
  std::optional<run::TooLongPrompt> tooLong{};  ///< the failure of a prompt that does not fit the context
};

/// Listens to one run. It is called on a thread of the engine, and never by two threads at once. It must
/// return soon and must not throw.
class RunListener {
 public:
  virtual ~RunListener() = default;
  /// An event of the run, from RunStarted to RunFinished.
  virtual void onEvent(const trace::Event& event) = 0;
  /// No event follows.
  virtual void onEnd(const RunEnd& end) = 0;
};

/// A run that was begun. Destroying the handle does not stop the run.
class RunHandle {
 public:
  virtual ~RunHandle() = default;
  /// Asks the run to stop. onEnd() reports the end. Any thread may call this, even after the end.
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
  /// Calls `listener` for every event of the session, in order. An empty listener ends this. The rules of
  /// trace::Recorder::setListener() apply.
  virtual void setListener(std::function<void(const trace::Event&)> listener) = 0;
};

}  // namespace spanscope::server
