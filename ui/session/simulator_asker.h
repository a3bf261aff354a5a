// SPDX-License-Identifier: GPL-3.0-or-later
// Requests predictions from the cache simulators of servers, on a separate thread. Such a prediction shows
// what the server's cache would reuse in a document's next run.
#pragma once

#include "engine/base/ids.h"
#include "engine/experiment/token_amount.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/workbench/servers/price_list.h"
#include "engine/workbench/servers/server_requests.h"
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

/// The known facts about a server in the user's list.
struct KnownServer {
  std::optional<remote::ServerFacts> facts;            ///< as the server reported; nothing: not reported
  std::string protocol;                                ///< workbench::NamedServer::protocol
  std::size_t atOnce = 0;                              ///< workbench::NamedServer::atOnce
  bool keepsOrder = false;                             ///< workbench::NamedServer::keepsOrder
  bool hasOrderNote = false;                           ///< workbench::NamedServer::hasOrderNote
  std::optional<experiment::SpeedSample> speed{};      ///< of the runs in this window; nothing: not measured
  std::optional<workbench::TokenPrice> price{};        ///< in the user's table of prices
  std::map<RunId, workbench::MessageOrders> orders{};  ///< the orders that were sent, by run
};

/// The predictions of cache simulators for the query of a prediction.
struct AskedSimulators {
  std::shared_ptr<const DocumentPrediction> prediction;  ///< the prediction with the query; never null
  workbench::SimulatorPredictions simulators;
};

/// Returns the prompts of the answers of a simulator.
inline const std::vector<workbench::ServerPrompt>& promptsOf(
    const AskedSimulators& asked, const workbench::SimulatorPrediction& simulator) {
  return simulator.prompts.empty() ? asked.simulators.prompts : simulator.prompts;
}

class SimulatorAsker : public QObject {
  Q_OBJECT
 public:
  explicit SimulatorAsker(QObject* parent = nullptr);
  ~SimulatorAsker() override;

  /// Requests new predictions if the input of the simulators has changed; answered() follows. If the query
  /// cannot be planned, newest() becomes null without a signal. An earlier request without an answer is
  /// dropped.
  void ask(const ViewInput& input);
  /// Sets the known facts about the servers. The facts also apply to the last request. Null: nothing is
  /// known.
  void useServers(std::shared_ptr<const KnownServers> servers);
  /// Traces the cache of a simulator in the newest answer. `place` is the simulator's
  /// SimulatorPrediction::id. The simulator first serves the earlier queries, unless `startsEmpty` is set.
  /// Then the simulator serves the query of the last request. Returns false if there is no answer or another
  /// trace is in progress. Otherwise the signal traced() follows.
  bool trace(const std::string& place, bool startsEmpty);
  bool isTracing() const { return m_isTracing; }
  /// The newest answer; null: there is none yet, or there is no query.
  const std::shared_ptr<const AskedSimulators>& newest() const { return m_newest; }
  bool isPending() const { return m_isPending; }
  /// Waits for the answer to the last request, for up to five seconds. Pictures need this function, because a
  /// picture is painted once.
  void finish();

 Q_SIGNALS:
  void answered();
  /// The problem of `prediction` is empty if the trace succeeded.
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
  void useOrders(Question& question);
  void readSent(const ViewInput& input);
  void take(std::uint64_t id, std::shared_ptr<const AskedSimulators> answer);

  std::optional<Question> m_asked;  ///< without the known facts about the servers
  Question m_question;              ///< with these facts
  std::shared_ptr<const KnownServers> m_servers;
  std::shared_ptr<const RunRecords> m_readFrom;
  std::shared_ptr<const std::vector<workbench::SentQuery>> m_sent;
  std::shared_ptr<const std::vector<workbench::SentQuery>> m_ordered;  ///< `m_sent` with the sent orders
  std::vector<workbench::NamedSimulator> m_known;  ///< servers that have answered, according to `m_readFrom`
  std::shared_ptr<const AskedSimulators> m_newest;
  std::uint64_t m_lastId = 0;
  bool m_isPending = false;
  bool m_isTracing = false;
  std::stop_source m_stopTracing;
  std::shared_future<std::shared_ptr<const AskedSimulators>>
      m_coming;  ///< null: the answer is no longer needed
  std::stop_source m_stop;
  std::shared_ptr<Answerer> m_answerer;  ///< used by the thread only
  TaskThread m_thread;                   ///< ends before everything that its tasks use
};

/// Returns the names of the servers of a document, including those of its nodes.
std::set<std::string> namedServers(const document::Document& document);

/// Returns the queries that ran in this window and have ended, in order.
std::vector<workbench::SentQuery> sentQueries(const RunRecords& records);

}  // namespace spanscope::ui
