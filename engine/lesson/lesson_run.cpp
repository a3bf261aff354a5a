// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/lesson_run.h"

#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/fidelity.h"
#include "engine/lesson/lesson_state.h"
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace spanscope::lesson {
namespace {

/// Has the recorder of the session that was opened last.
class SessionWatcher final : public workbench::JobContextWatcher {
 public:
  void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
    const std::lock_guard lock(m_mutex);
    m_recorder = recorder;
  }
  std::shared_ptr<trace::Recorder> recorder() const {
    const std::lock_guard lock(m_mutex);
    return m_recorder;
  }

 private:
  mutable std::mutex m_mutex;
  std::shared_ptr<trace::Recorder> m_recorder;
};

class LessonRunner {
 public:
  LessonRunner(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options)
      : m_lesson(lesson),
        m_folder(folder),
        m_options(options),
        m_state(folder),
        m_service(options.backends, m_watcher) {}

  LessonFacts run() {
    std::vector<Fault> faults;
    m_state.begin(m_lesson.head, faults);
    takeMachine();
    for (const Step& step : m_lesson.steps) {
      for (const Block& block : step.blocks) {
        const auto* list = std::get_if<ActionList>(&block);
        if (list == nullptr) continue;
        for (const Action& action : list->actions) {
          m_state.apply(action, faults);
          throwIfAny(step, faults);
          carryOut(step, action);
        }
      }
    }
    return std::move(m_facts);
  }

 private:
  /// A run of the lesson, with the session of this run.
  struct Made {
    RunId run = 0;
    std::vector<run::FinishedAnswer> answers;
  };

  void takeMachine() {
    const std::string& model = m_lesson.head.model.value;
    std::string chosen = m_options.machine.model;
    if (!m_options.choosesModel && model != "any" && model != "bundled") {
      auto place = m_folder.modelAt(model);
      if (auto* refused = std::get_if<query::NotGiven>(&place))
        throw Failure(errorAt("model", std::move(refused->found), std::move(refused->expected)));
      chosen = std::get<std::filesystem::path>(place).string();
    } else if (!m_options.choosesModel) {
      chosen.clear();
    }
    for (const workbench::Setting& setting : workbench::runSettings()) {
      if (setting.effect != workbench::SettingEffect::Model) continue;
      std::visit([&](auto member) { m_state.settings().*member = m_options.machine.*member; },
                 setting.member);
    }
    m_state.settings().model = chosen;
  }

  static void throwIfAny(const Step& step, const std::vector<Fault>& faults) {
    if (faults.empty()) return;
    throw Failure(
        errorAt("step " + std::to_string(step.number), faults.front().found, faults.front().expected));
  }

  void carryOut(const Step& step, const Action& action) {
    const std::string where = "step " + std::to_string(step.number);
    switch (action.kind) {
      case ActionKind::Run:
        report(where + ": run " + std::to_string(m_facts.size() + 1));
        carryOutRun(where);
        break;
      case ActionKind::Fidelity: {
        const std::size_t run = action.arguments.empty()
                                    ? m_facts.size()
                                    : std::size_t{std::get<std::uint32_t>(action.arguments[0].value)};
        report(where + ": fidelity of run " + std::to_string(run));
        measure(run - 1);
        break;
      }
      case ActionKind::Empty:
        m_service.clearCache();
        break;
      default:
        break;
    }
  }

  void report(const std::string& doing) const {
    if (m_options.report) m_options.report(doing);
  }

  void wait(workbench::JobHandle handle) {
    constexpr std::chrono::milliseconds kPeriod(5);
    const std::stop_callback stopped(m_options.stop, [&handle] { handle.stop(); });
    while (!handle.waitFor(kPeriod)) takeEvents();
    takeEvents();
    if (m_options.stop.stop_requested()) throw Failure(errorAt("lesson", "a stop", "its end"));
    handle.rethrow();
  }

  void takeEvents() {
    const std::shared_ptr<trace::Recorder> recorder = m_watcher.recorder();
    if (recorder == nullptr) return;
    if (recorder != m_recorder) {
      m_recorder = recorder;
      m_collector = {};
      m_answers = {};
    }
    std::vector<trace::Event> events;
    recorder->drain(events);
    for (const trace::Event& event : events) {
      if (const std::optional<Error> error = m_collector.take(event)) throw Failure(*error);
      m_answers.take(event);
    }
  }

  void carryOutRun(const std::string& where) {
    auto planned = m_state.plan();
    if (auto* problems = std::get_if<std::vector<query::NotGiven>>(&planned))
      throw Failure(errorAt(where, problems->front().found, problems->front().expected));
    PlannedQuery& query = std::get<PlannedQuery>(planned);
    run::RunOptions options = workbench::runOptionsOf(m_state.settings());
    options.queryJson = query::writeCanonical(query.query);
    options.explain = plan::explain(query.plan);
    const auto plan = std::make_shared<const plan::Plan>(std::move(query.plan));
    const auto work = std::make_shared<workbench::RunJob>(
        m_state.settings(),
        workbench::RunJob::Preparation{
            .prepare = [plan, options = std::move(options)](workbench::JobContext&, const retrieve::Watch&) {
              return workbench::RunJob::Prepared{.plan = plan, .options = options};
            }});
    wait(m_service.submit(work));
    std::optional<metrics::RunFacts> facts = m_collector.of(work->run());
    if (!facts) throw Failure(errorAt(where, "a run without events", "a run with its events"));
    m_facts.push_back(std::move(*facts));
    m_made.push_back({work->run(), m_answers.takeRun(work->run())});
  }

  void measure(std::size_t index) {
    const Made& made = m_made.at(index);
    wait(m_service.submit(std::make_shared<jobs::FidelityJob>(made.answers)));
    if (std::optional<metrics::RunFacts> facts = m_collector.of(made.run)) m_facts[index] = std::move(*facts);
  }

  const Lesson& m_lesson;
  const LessonFolder& m_folder;
  const LessonRunOptions& m_options;
  LessonState m_state;
  std::shared_ptr<trace::Recorder> m_recorder;  ///< whose events were taken last
  metrics::RunFactsCollector m_collector;
  experiment::FinishedAnswers m_answers;
  std::vector<Made> m_made;
  LessonFacts m_facts;
  SessionWatcher m_watcher;
  workbench::JobService m_service;
};

}  // namespace

LessonFacts runLesson(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options) {
  return LessonRunner(lesson, folder, options).run();
}

}  // namespace spanscope::lesson
