// SPDX-License-Identifier: GPL-3.0-or-later
// What a server needs of the engine behind it. The run service implements it, and so do stand-ins of tests.
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
  std::int64_t context = 0;  ///< most tokens of a prompt with its reply
  std::int32_t blockSize = 16;
  std::int64_t blocks = 0;                     ///< physical ones that can be used
  std::int32_t replyTokens = 256;              ///< limit of a reply for which nothing sets one
  const text::Tokenizer* tokenizer = nullptr;  ///< never null; lives as long as the engine
  const text::ChatTemplate* chat = nullptr;    ///< the same
};

/// How a run ended.
struct RunEnd {
  enum class How : std::uint8_t { Finished, Stopped, Failed };
  How how = How::Finished;
  std::string problem{};   ///< why it failed, in words
  bool isOfInput = false;  ///< it failed for what it was asked, such as a prompt that is too long
  std::optional<run::TooLongPrompt> tooLong{};  ///< it failed because a prompt does not fit the context
};

/// Listens to one run. It is called on a thread of the engine's, and never by two threads at once. It must
/// return soon and must not throw.
class RunListener {
 public:
  virtual ~RunListener() = default;
  /// An event of the run, from RunStarted to RunFinished.
  virtual void onEvent(const trace::Event& event) = 0;
  /// Nothing follows.
  virtual void onEnd(const RunEnd& end) = 0;
};

/// A run that was begun. Letting go of the handle does not stop the run.
class RunHandle {
 public:
  virtual ~RunHandle() = default;
  /// Asks the run to stop; onEnd() tells when it has. Any thread may call it, also when the run has ended.
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
  /// Begins a run, or has it wait until it can begin. Any thread may call it.
  virtual std::unique_ptr<RunHandle> begin(RunOrder order, std::shared_ptr<RunListener> listener) = 0;
  /// Has `listener` called for every event of the session, in order; an empty one listens no more. The rules
  /// of trace::Recorder::setListener() hold.
  virtual void setListener(std::function<void(const trace::Event&)> listener) = 0;
};

}  // namespace spanscope::server
