// SPDX-License-Identifier: GPL-3.0-or-later
// The window as a server. Other programs use the embedded engine over the loopback interface. The runs of
// these programs use the engine's session and cache. Events of such a run are events of the session.
// ServingState lists the requests of these programs.
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

/// The user's choices before serving.
struct ServeSettings {
  int port = kUsualPort;   ///< on the loopback interface; 0: any free port
  bool keepsTexts = true;  ///< false: no list, trace or file contains texts of requests and answers
  bool operator==(const ServeSettings&) const = default;

  static constexpr int kUsualPort = 8000;  ///< the built-in port of SPNL's client
};

enum class ServingPhase : std::uint8_t {
  Off,
  Starting,  ///< the model is loading, or other jobs have to end first
  On,
  Ending,  ///< new requests are refused; earlier ones are still answered
};

/// A request of a client, as a list shows it.
struct ServedEntry {
  std::uint64_t number = 0;  ///< counts from 1 since the window opened
  std::int64_t time = 0;     ///< arrival, milliseconds since 1970
  QString client;            ///< address
  QString endpoint;          ///< "/v1/chat/completions"
  QString model;             ///< the client's name for the model; may be empty
  std::string queryJson;     ///< canonical; empty if texts are not kept
  bool keepsTexts = true;
  RunId run = 0;  ///< 0: the request waits
  server::RequestState state = server::RequestState::Running;
  QString problem;                          ///< the reason of a failure
  std::optional<std::int64_t> prompt = {};  ///< prompt tokens; nothing: no prompt has a layout yet
  std::int64_t cached = 0;                  ///< number of these tokens that are cache hits
  std::int64_t generated = 0;               ///< tokens of its answers so far
  bool isOver() const { return state != server::RequestState::Running; }
};

/// The state of serving, for the user.
struct ServingState {
  ServingPhase phase = ServingPhase::Off;
  QString url;    ///< "http://127.0.0.1:8000"; empty unless On or Ending
  QString model;  ///< name of the served model; empty before the first start
  ServeSettings settings;
  QString problem;                   ///< the reason why serving could not begin, with advice; else empty
  std::vector<ServedEntry> entries;  ///< the oldest first
  std::size_t answering = 0;         ///< number of requests that wait or run
};

/// Call all functions on the window's thread.
class Serving : public QObject {
  Q_OBJECT
 public:
  /// Max number of entries. Ended entries are removed first, from the oldest.
  static constexpr std::size_t kMostEntries = 200;

  /// `engine` must outlive this object.
  explicit Serving(EngineHost& engine, QObject* parent = nullptr);
  ~Serving() override;  ///< stops the server immediately

  /// Begins to serve the model of `run` in its session, over the loopback interface. Nothing happens unless
  /// the phase is Off. state() has the result.
  void start(const workbench::RunSettings& run, const ServeSettings& settings);
  /// Refuses new requests, and ends after the current requests are answered. A second call stops the current
  /// requests.
  void stop();

  /// Never null. Each change replaces the object.
  const std::shared_ptr<const ServingState>& state() const { return m_state; }
  /// The settings of the session of the requests. If the phase is Off: the settings of the last session.
  const workbench::RunSettings& runSettings() const { return m_run; }
  /// Returns an entry with all events that the host has drained. Nothing: there is no such entry.
  std::optional<ServedEntry> entryOfRun(RunId run) const;
  std::optional<ServedEntry> entry(std::uint64_t number) const;

 Q_SIGNALS:
  /// state() returns another object.
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
  std::shared_ptr<Prepared> m_prepared;  ///< of the current or coming server; null: Off
  workbench::JobHandle m_starting;
  std::unique_ptr<Running> m_running;  ///< null: nothing is served
};

/// "Port 8000: Address already in use. …", with advice. `found` is the error of the system.
QString portProblem(int port, const QString& found);

}  // namespace spanscope::ui
