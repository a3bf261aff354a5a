// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/served_engine.h"

#include "engine/remote/server/served_requests.h"
#include "engine/run/drive_plan.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/run_job.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::workbench {

/// Passes the events of each run to its listener.
class ServedEngine::Router {
 public:
  /// The next run that starts belongs to this listener. Call this function on the service's thread, where no
  /// other run starts in between.
  void expect(std::shared_ptr<server::RunListener> listener) {
    const std::lock_guard lock(m_mutex);
    m_expected = std::move(listener);
  }
  void setListener(std::function<void(const trace::Event&)> listener) {
    const std::lock_guard lock(m_mutex);
    m_ofAll = std::move(listener);
  }
  void take(const trace::Event& event) {
    const std::lock_guard lock(m_mutex);
    if (m_ofAll) m_ofAll(event);
    if (m_expected && std::holds_alternative<trace::RunStarted>(event.payload)) {
      m_listeners[event.run] = std::exchange(m_expected, nullptr);
      m_runs.insert(event.run);
    }
    const auto found = m_listeners.find(event.run);
    if (found == m_listeners.end()) return;
    found->second->onEvent(event);
    if (std::holds_alternative<trace::RunFinished>(event.payload)) m_listeners.erase(found);
  }
  /// Removes the texts from an event of a run that had a listener, even long after the run. Also removes the
  /// texts of a disk cache, which belong to no run.
  void redact(trace::Event& event) {
    const std::lock_guard lock(m_mutex);
    const bool isOfStore = std::holds_alternative<trace::StoreTextsReported>(event.payload);
    if (!isOfStore && !m_runs.contains(event.run)) return;
    event = server::withoutTexts(std::move(event));
    // An empty line would not look like a message.
    if (auto* message = std::get_if<trace::MessageLogged>(&event.payload))
      message->text = "The text of this message is not kept.";
  }

 private:
  std::mutex m_mutex;
  std::set<RunId> m_runs;  ///< all runs with a listener
  std::shared_ptr<server::RunListener> m_expected;
  std::map<RunId, std::shared_ptr<server::RunListener>> m_listeners;
  std::function<void(const trace::Event&)> m_ofAll;
};

namespace {

class ServedHandle final : public server::RunHandle {
 public:
  explicit ServedHandle(JobHandle handle) : m_handle(std::move(handle)) {}
  void stop() override { m_handle.stop(); }

 private:
  JobHandle m_handle;
};

server::RunEnd endOf(JobState state, const std::string& problem, const RunJob& job) {
  using How = server::RunEnd::How;
  server::RunEnd end;
  end.how = state == JobState::Finished  ? How::Finished
            : state == JobState::Stopped ? How::Stopped
                                         : How::Failed;
  end.problem = problem;
  // If a run could not begin or failed after its first token, the request is not the cause.
  const std::optional<run::RunResult>& result = job.result();
  end.isOfInput =
      end.how == How::Failed && result && result->error &&
      std::ranges::all_of(result->steps, [](const run::StepResult& step) { return step.tokens.empty(); });
  if (end.isOfInput) end.tooLong = result->tooLong;
  return end;
}

}  // namespace

ServedEngine::ServedEngine(JobService& service, RunSettings settings,
                           std::shared_ptr<const ModelBundle> model, const run::SessionConfig& session,
                           std::shared_ptr<trace::Recorder> recorder, bool keepsTexts)
    : m_service(service),
      m_settings(std::move(settings)),
      m_model(std::move(model)),
      m_served{.name = m_model->name,
               .fingerprint = m_model->fingerprint,
               .context = m_model->config.maxPositions,
               .blockSize = session.blockSize,
               .blocks = session.blockCount - 1,
               .answerTokens = run::answerLimit({}, {}, m_model->config),
               .tokenizer = m_model->tokenizer.get(),
               .chat = m_model->chat},
      m_keepsTexts(keepsTexts),
      m_router(std::make_shared<Router>()) {
  attach(std::move(recorder));
}

void ServedEngine::attach(std::shared_ptr<trace::Recorder> recorder) {
  if (m_recorder) m_recorder->setListener({});
  m_recorder = std::move(recorder);
  m_recorder->setListener([router = m_router](const trace::Event& event) { router->take(event); });
  // Later measurements of a run contain its texts too, so the redaction stays after the server has ended.
  if (!m_keepsTexts)
    m_recorder->addRedaction([router = m_router](trace::Event& event) { router->redact(event); });
}

ServedEngine::~ServedEngine() {
  m_recorder->setListener({});
}

std::unique_ptr<server::RunHandle> ServedEngine::begin(server::RunOrder order,
                                                       std::shared_ptr<server::RunListener> listener) {
  const auto job = std::make_shared<RunJob>(
      m_settings, RunJob::Preparation{.prepare = [router = m_router, listener, order = std::move(order)](
                                                     JobContext&, const retrieve::Watch&) {
        router->expect(listener);
        return RunJob::Prepared{.plan = order.plan, .options = order.options};
      }});
  // The service releases job and listener when the job has ended.
  SubmitOptions options;
  options.changed = [listener, raw = job.get()](JobState state, const std::string& problem) {
    if (hasEnded(state)) listener->onEnd(endOf(state, problem, *raw));
  };
  return std::make_unique<ServedHandle>(m_service.submit(job, std::move(options)));
}

void ServedEngine::setListener(std::function<void(const trace::Event&)> listener) {
  m_router->setListener(std::move(listener));
}

}  // namespace spanscope::workbench
