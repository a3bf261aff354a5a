// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a server: other programs ask the embedded engine over the loopback, in its own session and
// over its own cache. What they asked is listed here; the events of their runs are those of the session.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/server/served_requests.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/settings.h"
#include "ui/session/engine_host.h"

#include <QObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// What a person chooses before serving.
struct ServeSettings {
  int port = kUsualPort;   ///< of the loopback; 0: any that is free
  bool keepsTexts = true;  ///< false: texts of requests and replies get into no list, trace or file
  bool operator==(const ServeSettings&) const = default;

  static constexpr int kUsualPort = 8000;  ///< SPNL's client has it built in
};

enum class ServingPhase : std::uint8_t {
  Off,
  Starting,  ///< the model is loaded, or other work has to end first
  On,
  Ending,  ///< new requests are refused, those that run are answered
};

/// A request of a client, as a list shows it.
struct ServedEntry {
  std::uint64_t number = 0;  ///< counts from 1, over the whole life of the window
  std::int64_t time = 0;     ///< when it came, milliseconds since 1970
  QString client;            ///< address
  QString endpoint;          ///< "/v1/chat/completions"
  QString model;             ///< as the client named it; may be empty
  std::string queryJson;     ///< canonical; empty where texts are not kept
  bool keepsTexts = true;
  RunId run = 0;  ///< 0: it waits
  server::RequestState state = server::RequestState::Running;
  QString problem;                          ///< why it failed
  std::optional<std::int64_t> prompt = {};  ///< tokens of its prompts; nothing: not laid out yet
  std::int64_t cached = 0;                  ///< of these, found in the cache
  std::int64_t generated = 0;               ///< tokens of its replies so far
  bool isOver() const { return state != server::RequestState::Running; }
};

/// All that is shown of serving.
struct ServingState {
  ServingPhase phase = ServingPhase::Off;
  QString url;    ///< "http://127.0.0.1:8000"; empty unless On or Ending
  QString model;  ///< name of the served model; empty before one was served
  ServeSettings settings;
  QString problem;                   ///< why it could not begin, in words with what helps; else empty
  std::vector<ServedEntry> entries;  ///< the oldest first
  std::size_t answering = 0;         ///< requests that wait or run
};

/// Everything is called on the window's thread.
class Serving : public QObject {
  Q_OBJECT
 public:
  /// Entries beyond these go, the oldest that have ended first.
  static constexpr std::size_t kMostEntries = 200;

  /// `engine` must outlive it.
  explicit Serving(EngineHost& engine, QObject* parent = nullptr);
  ~Serving() override;  ///< stops what goes on

  /// Begins to serve the model of `run` in the session that belongs to it, on the loopback. Nothing happens
  /// unless it is Off. state() says what became of it.
  void start(const workbench::RunSettings& run, const ServeSettings& settings);
  /// Refuses new requests and ends when those that run have been answered; called again, it stops them.
  void stop();

  /// Never null; another object whenever something has changed.
  const std::shared_ptr<const ServingState>& state() const { return m_state; }
  /// The settings of the session in which requests run; those of the last time where it is Off.
  const workbench::RunSettings& runSettings() const { return m_run; }
  /// Up to date with every event that the host has drained. Nothing: no such request is listed.
  std::optional<ServedEntry> entryOfRun(RunId run) const;
  std::optional<ServedEntry> entry(std::uint64_t number) const;

 Q_SIGNALS:
  /// state() is another one.
  void changed();

 private:
  class Book;
  struct Prepared;
  struct Running;

  void begin(std::shared_ptr<Prepared> prepared);
  void fail(const QString& problem);
  void end();
  void show();

  EngineHost& m_engine;
  std::shared_ptr<Book> m_book;
  workbench::RunSettings m_run;
  ServeSettings m_settings;
  ServingPhase m_phase = ServingPhase::Off;
  QString m_model;
  QString m_problem;
  std::shared_ptr<const ServingState> m_state = std::make_shared<const ServingState>();
  std::shared_ptr<Prepared> m_prepared;  ///< of the server that is or will be; null: Off
  workbench::JobHandle m_starting;
  std::unique_ptr<Running> m_running;  ///< null: nothing is served
};

/// "Port 8000: Address already in use. …", with what to do; `found`: what the system says.
QString portProblem(int port, const QString& found);

}  // namespace spanscope::ui
