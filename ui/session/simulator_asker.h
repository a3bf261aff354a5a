// SPDX-License-Identifier: GPL-3.0-or-later
// Asks the twins of other servers what they would find of a document's next run, on a thread of its own.
#pragma once

#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/servers/simulator_prediction.h"
#include "ui/session/task_thread.h"
#include "ui/session/view_input.h"

#include <QObject>

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::ui {

/// What is known of a server of the person's list.
struct KnownServer {
  std::optional<remote::ServerFacts> facts;  ///< as it said of itself; nothing: it was not asked
  std::string protocol;                      ///< workbench::NamedServer::protocol
  std::size_t atOnce = 0;                    ///< workbench::NamedServer::atOnce
};

/// What twins say of the query of a prediction.
struct AskedSimulators {
  std::shared_ptr<const DocumentPrediction> prediction;  ///< whose query it is; never null
  workbench::SimulatorPredictions simulators;
};

class SimulatorAsker : public QObject {
  Q_OBJECT
 public:
  explicit SimulatorAsker(QObject* parent = nullptr);
  ~SimulatorAsker() override;

  /// Asks, if anything that decides it has changed; then answered() follows, with nothing more where the
  /// query cannot be planned. What was asked before and is not answered yet is dropped.
  void ask(const ViewInput& input);
  /// Sets what is known of the servers from now on, for what was asked last, too. Null: nothing is.
  void useServers(std::shared_ptr<const KnownServers> servers);
  /// Has the twin at this place, which the newest answer has, tell what its cache does with the queries that
  /// were run before, unless it is to begin empty, and with that of the newest answer. told() follows, once
  /// for each call. False: there is no answer, or it is telling.
  bool trace(const std::string& place, bool startsEmpty);
  bool isTracing() const { return m_isTracing; }
  /// The newest answer; null: there is none yet, or there is no query.
  const std::shared_ptr<const AskedSimulators>& newest() const { return m_newest; }
  bool isPending() const { return m_isPending; }
  /// Waits for the answer of what was asked last, for as long as five seconds: for pictures, which are
  /// painted once.
  void finish();

 Q_SIGNALS:
  void answered();
  /// Its problem is none unless it could not be told.
  void traced(const std::shared_ptr<const workbench::TracedPrediction>& prediction);

 private:
  struct Question {
    std::shared_ptr<const DocumentPrediction> prediction;
    workbench::RunSettings settings;
    std::shared_ptr<const std::vector<workbench::SentQuery>> sent;
    std::vector<workbench::NamedSimulator> named;
    bool operator==(const Question&) const = default;
  };
  class Answerer;

  void pose();
  void readSent(const ViewInput& input);
  void take(std::uint64_t id, std::shared_ptr<const AskedSimulators> answer);

  std::optional<Question> m_asked;  ///< without what is known of the servers
  Question m_question;              ///< with that
  std::shared_ptr<const KnownServers> m_servers;
  std::shared_ptr<const RunRecords> m_readFrom;
  std::shared_ptr<const std::vector<workbench::SentQuery>> m_sent;
  std::vector<workbench::NamedSimulator> m_known;  ///< servers that have answered, by what `m_readFrom` says
  std::shared_ptr<const AskedSimulators> m_newest;
  std::uint64_t m_lastId = 0;
  bool m_isPending = false;
  bool m_isTracing = false;
  std::stop_source m_stopTracing;
  std::shared_future<std::shared_ptr<const AskedSimulators>> m_coming;  ///< null: it is not wanted any more
  std::stop_source m_stop;
  std::shared_ptr<Answerer> m_answerer;  ///< of the thread
  TaskThread m_thread;                   ///< ends before everything that its tasks use
};

/// The names of the servers that the document is run on, its nodes' own among them.
std::set<std::string> namedServers(const document::Document& document);

/// The queries that were run in this window and have ended, in order.
std::vector<workbench::SentQuery> sentQueries(const RunRecords& records);

}  // namespace spanscope::ui
