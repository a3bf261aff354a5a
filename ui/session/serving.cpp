// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/serving.h"

#include "engine/base/error.h"
#include "engine/remote/server/server.h"
#include "engine/run/session.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_names.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/served_engine.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/run_request.h"

#include <QCoreApplication>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <variant>

namespace spanscope::ui {

using workbench::JobState;
using workbench::RunSettings;
using workbench::ServedEngine;

/// The requests of clients, as the threads of server and engine report them.
class Serving::Book final : public server::ServedListener {
 public:
  explicit Book(std::function<void()> changed) : m_changed(std::move(changed)) {}

  /// The numbers of requests of the next server continue after those so far.
  void startServer(bool keepsTexts) {
    const std::lock_guard lock(m_mutex);
    m_before = m_last;
    m_keepsTexts = keepsTexts;
  }
  /// Reports no more changes.
  void close() {
    const std::lock_guard lock(m_mutex);
    m_changed = {};
  }
  std::vector<ServedEntry> entries() {
    const std::lock_guard lock(m_mutex);
    m_isReported = false;
    return {m_entries.begin(), m_entries.end()};
  }
  template <class Is>
  std::optional<ServedEntry> find(Is is) const {
    const std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_entries.rbegin(), m_entries.rend(), is);
    return found == m_entries.rend() ? std::nullopt : std::optional(*found);
  }

 private:
  void onRequest(const server::ServedRequest& request) override {
    const std::lock_guard lock(m_mutex);
    ServedEntry entry;
    entry.number = m_last = m_before + request.number;
    entry.time = request.time;
    entry.client = QString::fromStdString(request.client);
    entry.endpoint = QString::fromStdString(request.endpoint);
    entry.model = QString::fromStdString(request.model);
    entry.queryJson = request.queryJson;
    entry.keepsTexts = m_keepsTexts;
    m_entries.push_back(std::move(entry));
    const auto isOver = [](const ServedEntry& each) { return each.isOver(); };
    if (m_entries.size() > kMostEntries) {
      const auto oldest = std::find_if(m_entries.begin(), m_entries.end(), isOver);
      if (oldest != m_entries.end()) m_entries.erase(oldest);
    }
    report();
  }

  void onEvent(std::uint64_t number, const trace::Event& event) override {
    const std::lock_guard lock(m_mutex);
    ServedEntry* const entry = byNumber(m_before + number);
    if (entry == nullptr) return;
    if (std::holds_alternative<trace::RunStarted>(event.payload)) {
      entry->run = event.run;
    } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
      if (admitted->resumed) return;
      entry->prompt = entry->prompt.value_or(0) + admitted->promptTokens;
      entry->cached += admitted->cachedTokens;
    } else if (std::holds_alternative<trace::TokenGenerated>(event.payload)) {
      ++entry->generated;
    } else {
      return;
    }
    report();
  }

  void onEnd(std::uint64_t number, server::RequestState state, const std::string& problem) override {
    const std::lock_guard lock(m_mutex);
    ServedEntry* const entry = byNumber(m_before + number);
    if (entry == nullptr) return;
    entry->state = state;
    entry->problem = QString::fromStdString(problem);
    report();
  }

  ServedEntry* byNumber(std::uint64_t number) {
    const auto found =
        std::lower_bound(m_entries.begin(), m_entries.end(), number,
                         [](const ServedEntry& each, std::uint64_t wanted) { return each.number < wanted; });
    return found != m_entries.end() && found->number == number ? &*found : nullptr;
  }
  void report() {
    if (!std::exchange(m_isReported, true) && m_changed) m_changed();
  }

  mutable std::mutex m_mutex;
  std::function<void()> m_changed;
  bool m_isReported = false;  ///< the change was reported since entries() was called
  bool m_keepsTexts = true;
  std::uint64_t m_before = 0;
  std::uint64_t m_last = 0;
  std::deque<ServedEntry> m_entries;  ///< sorted by number
};

/// The state that the engine's thread prepares for the server, and updates while the server runs. The state
/// may outlive the Serving object, because a stopped attempt ends only after the model has been read.
struct Serving::Prepared {
  using Ended = std::function<void(const std::shared_ptr<Prepared>&, JobState, const std::string& problem)>;

  std::shared_ptr<workbench::ModelBundle> model;
  run::SessionConfig session;

  std::mutex mutex;                           ///< guards the members below
  Ended ended;                                ///< called on the engine's thread; empty: no longer called
  std::shared_ptr<trace::Recorder> recorder;  ///< the recorder of the newest session
  ServedEngine* engine = nullptr;

  void attach(const std::shared_ptr<trace::Recorder>& opened) {
    const std::lock_guard lock(mutex);
    recorder = opened;
    if (engine != nullptr) engine->attach(opened);
  }
  /// Returns after the last call of `ended`.
  void close() {
    const std::lock_guard lock(mutex);
    ended = {};
  }
};

struct Serving::Running {
  std::unique_ptr<ServedEngine> engine;
  std::unique_ptr<server::Server> server;
  QString url;
  std::stop_source hurry;
  std::thread ending;

  ~Running() {
    hurry.request_stop();
    if (ending.joinable()) ending.join();
  }
};

QString portProblem(int port, const QString& found) {
  return Serving::tr("Port %1: %2 Choose another port, or end the program that uses this port.")
      .arg(port)
      .arg(found);
}

Serving::Serving(EngineHost& engine, QObject* parent)
    : QObject(parent), m_engine(engine), m_book(std::make_shared<Book>([this] {
        QMetaObject::invokeMethod(this, &Serving::show, Qt::QueuedConnection);
      })) {}

Serving::~Serving() {
  m_book->close();
  m_engine.setSessionListener({});
  if (m_prepared != nullptr) m_prepared->close();
  m_starting.stop();
  if (m_running != nullptr) end();
}

void Serving::start(const RunSettings& run, const ServeSettings& settings) {
  if (m_phase != ServingPhase::Off) return;
  m_run = run;
  m_run.server.clear();
  m_settings = settings;
  m_phase = ServingPhase::Starting;
  m_problem.clear();
  show();
  m_prepared = std::make_shared<Prepared>();
  m_engine.setSessionListener([prepared = m_prepared](const std::shared_ptr<trace::Recorder>& recorder) {
    prepared->attach(recorder);
  });
  const auto work = std::make_shared<workbench::FunctionJob>(
      [prepared = m_prepared, run = m_run](workbench::JobContext& place, const std::stop_token& stop) {
        const workbench::ModelBundle& loaded = place.modelFor(run, stop);
        // A pool that does not fit is reported now to the user instead of later to the first client.
        prepared->session = place.sessionFor(run, stop).config();
        prepared->attach(place.recorder());
        // The server keeps only a description, because another document may load another model meanwhile.
        auto described = std::make_shared<workbench::ModelBundle>(workbench::describeModel(
            workbench::modelDirectoryOf(run), workbench::chosenTemplateOf(run), run.context));
        described->name = loaded.name;
        described->fingerprint = loaded.fingerprint;
        prepared->model = std::move(described);
      },
      workbench::Passing::Passes);
  workbench::SubmitOptions options;
  m_prepared->ended = [this](const std::shared_ptr<Prepared>& prepared, JobState state,
                             const std::string& problem) {
    QMetaObject::invokeMethod(
        this,
        [this, prepared, state, text = problem] {
          if (prepared != m_prepared) return;
          if (state == JobState::Finished)
            begin(prepared);
          else
            fail(text.empty() ? tr("The engine was stopped before the model was loaded.")
                              : QCoreApplication::translate("Jobs", text.c_str()));
        },
        Qt::QueuedConnection);
  };
  options.changed = [prepared = m_prepared](JobState state, const std::string& problem) {
    if (!workbench::hasEnded(state)) return;
    const std::lock_guard lock(prepared->mutex);
    if (prepared->ended) prepared->ended(prepared, state, problem);
  };
  m_starting = m_engine.service().submit(work, std::move(options));
}

void Serving::begin(std::shared_ptr<Prepared> prepared) {
  auto running = std::make_unique<Running>();
  {
    const std::lock_guard lock(prepared->mutex);
    running->engine =
        std::make_unique<ServedEngine>(m_engine.service(), m_run, prepared->model, prepared->session,
                                       prepared->recorder, m_settings.keepsTexts);
    prepared->engine = running->engine.get();
  }
  server::ServerConfig config;
  config.port = m_settings.port;
  config.names = workbench::stoodFor(m_run);
  config.keepsTexts = m_settings.keepsTexts;
  config.run = shownRunOptions(m_run, prepared->model->config.layers);
  // The window already has the events in the trace of its session.
  config.served.eventBytes = 0;
  try {
    running->server = std::make_unique<server::Server>(std::move(config), *running->engine);
  } catch (const Failure& failure) {
    {
      const std::lock_guard lock(prepared->mutex);
      prepared->engine = nullptr;
    }
    running.reset();
    fail(portProblem(m_settings.port, QString::fromStdString(failure.error().found)));
    return;
  }
  m_book->startServer(m_settings.keepsTexts);
  running->server->requests().setListener(m_book.get());
  running->server->start();
  running->url = QString::fromStdString(running->server->url());
  m_running = std::move(running);
  m_model = QString::fromStdString(prepared->model->name);
  m_phase = ServingPhase::On;
  show();
}

void Serving::fail(const QString& problem) {
  m_engine.setSessionListener({});
  m_prepared.reset();
  m_phase = ServingPhase::Off;
  m_problem = problem;
  show();
}

void Serving::stop() {
  switch (m_phase) {
    case ServingPhase::Off:
      break;
    case ServingPhase::Starting:
      m_prepared->close();
      m_starting.stop();
      m_engine.setSessionListener({});
      m_prepared.reset();
      m_phase = ServingPhase::Off;
      show();
      break;
    case ServingPhase::On:
      m_phase = ServingPhase::Ending;
      m_running->ending =
          std::thread([this, server = m_running->server.get(), hurry = m_running->hurry.get_token()] {
            server->finish(hurry);
            QMetaObject::invokeMethod(
                this,
                [this] {
                  if (m_phase == ServingPhase::Ending) end();
                },
                Qt::QueuedConnection);
          });
      show();
      break;
    case ServingPhase::Ending:
      m_running->hurry.request_stop();
      break;
  }
}

void Serving::end() {
  m_engine.setSessionListener({});
  m_running->hurry.request_stop();
  if (m_running->ending.joinable()) m_running->ending.join();
  m_running->server->requests().setListener(nullptr);
  m_running->server.reset();
  if (m_prepared) {
    const std::lock_guard lock(m_prepared->mutex);
    m_prepared->engine = nullptr;
  }
  m_prepared.reset();
  m_running.reset();
  m_phase = ServingPhase::Off;
  show();
}

void Serving::show() {
  auto state = std::make_shared<ServingState>();
  state->phase = m_phase;
  if (m_running != nullptr) state->url = m_running->url;
  state->model = m_model;
  state->settings = m_settings;
  state->problem = m_problem;
  state->entries = m_book->entries();
  state->answering =
      static_cast<std::size_t>(std::count_if(state->entries.begin(), state->entries.end(),
                                             [](const ServedEntry& entry) { return !entry.isOver(); }));
  m_state = std::move(state);
  Q_EMIT changed();
}

std::optional<ServedEntry> Serving::entryOfRun(RunId run) const {
  return m_book->find([run](const ServedEntry& entry) { return entry.run == run; });
}

std::optional<ServedEntry> Serving::entry(std::uint64_t number) const {
  return m_book->find([number](const ServedEntry& entry) { return entry.number == number; });
}

}  // namespace spanscope::ui
