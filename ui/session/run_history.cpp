// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_history.h"

#include "engine/checkpoint/checkpoint.h"
#include "engine/query/json/json.h"
#include "engine/workbench/model_names.h"
#include "ui/session/token_account.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

std::optional<double> rate(std::int64_t rows, std::int64_t nanoseconds) {
  if (rows <= 0 || nanoseconds <= 0) return std::nullopt;
  return static_cast<double>(rows) / (static_cast<double>(nanoseconds) * 1e-9);
}

QStringList otherNames(const std::string& queryJson, const QString& model) {
  const query::ParseResult read = query::parseJson(queryJson);
  QStringList names;
  if (!read.query) return names;
  for (const std::string& name : workbench::otherModels(*read.query, model.toStdString()))
    names += QString::fromStdString(name);
  return names;
}

/// Tokens and times of the forward passes of one run.
class RateSums {
 public:
  /// Adds a forward pass with this many tokens of the run.
  void add(std::int64_t prefill, std::int64_t decode, std::int64_t nanoseconds) {
    if (prefill > 0) {
      m_prefillRows += prefill;
      m_prefillTime += nanoseconds;
    } else {
      m_decodeRows += decode;
      m_decodeTime += nanoseconds;
    }
  }
  RunRates rates() const {
    return {.prefill = rate(m_prefillRows, m_prefillTime), .decode = rate(m_decodeRows, m_decodeTime)};
  }

 private:
  std::int64_t m_prefillRows = 0;
  std::int64_t m_prefillTime = 0;  ///< nanoseconds
  std::int64_t m_decodeRows = 0;
  std::int64_t m_decodeTime = 0;  ///< nanoseconds
};

/// The sums of every run that has tokens in the forward passes. There may be a million forward passes, most
/// with one entry.
class RunRateSums {
 public:
  explicit RunRateSums(const TraceStore& trace) : m_trace(trace) {}

  void addPass(std::size_t index) {
    const auto* pass = std::get_if<trace::BatchComputed>(&m_trace.event(index).payload);
    if (pass == nullptr) return;
    m_ofPass.clear();
    for (const trace::BatchEntry& entry : pass->entries) {
      const RunId run = runOf(entry.request);
      // A trace that begins in the middle may not have the run of a request.
      if (run == 0) continue;
      auto tokens = std::find_if(m_ofPass.begin(), m_ofPass.end(),
                                 [run](const Tokens& each) { return each.run == run; });
      if (tokens == m_ofPass.end()) tokens = m_ofPass.insert(tokens, Tokens{.run = run});
      (entry.decode ? tokens->decode : tokens->prefill) += entry.count;
    }
    for (const Tokens& tokens : m_ofPass)
      m_sums[tokens.run].add(tokens.prefill, tokens.decode, pass->nanoseconds);
  }
  const std::map<RunId, RateSums>& sums() const { return m_sums; }

 private:
  struct Tokens {
    RunId run = 0;
    std::int64_t prefill = 0;
    std::int64_t decode = 0;
  };

  /// Returns 0 if the run is not known. Keeps the last result, because consecutive forward passes are mostly
  /// of the same request.
  RunId runOf(RequestId request) {
    if (request == m_request) return m_run;
    const RequestEvents* events = m_trace.request(request);
    m_request = request;
    m_run = events == nullptr ? 0 : events->run;
    return m_run;
  }

  const TraceStore& m_trace;
  std::map<RunId, RateSums> m_sums;
  std::vector<Tokens> m_ofPass;
  RequestId m_request = 0;  ///< the request of m_run
  RunId m_run = 0;
};

void finish(RunRecord& record) {
  const TraceStore& trace = *record.trace;
  const trace::Progress& progress = trace.newest().progress();
  record.metricValues = runSummary(progress, record.run);
  if (record.metricValues) {
    for (const auto& [id, request] : record.metricValues->requests)
      record.accounts[id] = RequestAccount(trace, trace.size(), id).done();
  }
  record.warnings = warningsOf(trace, trace.size(), record.run);
  const RunRates rates = ratesOf(trace, trace.size(), record.run);
  record.prefillRate = rates.prefill;
  record.decodeRate = rates.decode;
}

}  // namespace

std::shared_ptr<const trace::Progress> runSummary(const trace::Progress& whole, RunId run) {
  const auto state = whole.runs.find(run);
  if (state == whole.runs.end()) return nullptr;
  auto metricValues = std::make_shared<trace::Progress>();
  metricValues->program = whole.program;
  metricValues->model = whole.model;
  metricValues->backend = whole.backend;
  metricValues->threads = whole.threads;
  metricValues->layers = whole.layers;
  metricValues->heads = whole.heads;
  metricValues->runs.set(run, state->second);
  for (const RequestId id : state->second.requests) {
    const auto found = whole.requests.find(id);
    if (found == whole.requests.end()) continue;
    trace::RequestState request = found->second;
    request.segments = {};
    request.blocks = {};
    metricValues->requests.set(id, std::move(request));
  }
  return metricValues;
}

RunRates ratesOf(const TraceStore& trace, std::size_t position, RunId run) {
  RunRateSums sums(trace);
  const std::vector<std::size_t>& passes = trace.indicesOf<trace::BatchComputed>();
  const std::size_t start = trace.startOf(run).value_or(0);
  for (auto pass = std::lower_bound(passes.begin(), passes.end(), start); pass != passes.end(); ++pass) {
    if (*pass >= position) break;
    sums.addPass(*pass);
  }
  const auto own = sums.sums().find(run);
  return own == sums.sums().end() ? RunRates() : own->second.rates();
}

std::map<RunId, RunRates> ratesOfRuns(const TraceStore& trace, std::size_t position) {
  RunRateSums sums(trace);
  for (const std::size_t index : trace.indicesOf<trace::BatchComputed>()) {
    if (index >= position) break;
    sums.addPass(index);
  }
  std::map<RunId, RunRates> rates;
  for (const auto& [run, sum] : sums.sums()) rates.emplace_hint(rates.end(), run, sum.rates());
  return rates;
}

QStringList warningsOf(const TraceStore& trace, std::size_t position, RunId run) {
  QStringList warnings;
  for (const std::size_t index : trace.indicesOf<trace::MessageLogged>()) {
    if (index >= position) break;
    const trace::Event& event = trace.event(index);
    const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
    if (message == nullptr || message->severity != Severity::Warning) continue;
    if (event.run == run && event.request == 0) warnings += QString::fromStdString(message->text);
  }
  return warnings;
}

void RunHistory::change(const std::function<void(RunRecords&)>& change) {
  auto records = std::make_shared<RunRecords>(*m_records);
  change(*records);
  m_records = std::move(records);
}

const RunRecord* RunHistory::find(RunId run) const {
  const auto found = std::lower_bound(m_records->begin(), m_records->end(), run,
                                      [](const auto& record, RunId wanted) { return record->run < wanted; });
  return found == m_records->end() || (*found)->run != run ? nullptr : found->get();
}

const RunRecord* RunHistory::findByRequest(RequestId request) const {
  for (auto record = m_records->rbegin(); record != m_records->rend(); ++record) {
    const trace::Progress* progress = (*record)->metricValues.get();
    if (progress == nullptr && (*record)->trace) progress = &(*record)->trace->newest().progress();
    if (progress == nullptr) continue;
    const auto found = progress->requests.find(request);
    if (found != progress->requests.end() && found->second.run == (*record)->run) return record->get();
  }
  return nullptr;
}

void RunHistory::changeOne(RunId run, const std::function<void(RunRecord&)>& change) {
  this->change([&](RunRecords& records) {
    for (std::shared_ptr<const RunRecord>& record : records) {
      if (record->run != run) continue;
      auto changed = std::make_shared<RunRecord>(*record);
      change(*changed);
      record = std::move(changed);
    }
  });
}

void RunHistory::begin(RunRecord record, const std::string& queryJson) {
  record.otherNames = otherNames(queryJson, record.model);
  add(std::move(record));
}

void RunHistory::add(RunRecord record) {
  change([&record](RunRecords& records) {
    const auto place = std::lower_bound(records.begin(), records.end(), record.run,
                                        [](const auto& other, RunId run) { return other->run < run; });
    records.insert(place, std::make_shared<const RunRecord>(std::move(record)));
    if (records.size() > kMostRuns) records.erase(records.begin());
  });
}

void RunHistory::remove(RunId run) {
  change([run](RunRecords& records) {
    std::erase_if(records, [run](const auto& record) { return record->run == run; });
  });
}

void RunHistory::end(RunId run) {
  const RunRecord* known = find(run);
  if (known != nullptr && known->trace) changeOne(run, finish);
}

void RunHistory::noteFidelity(RunId run, RequestId request, const trace::FidelityMeasured& measured) {
  changeOne(run, [&](RunRecord& record) {
    record.fidelity[request] = std::make_shared<const trace::FidelityMeasured>(measured);
  });
}

void RunHistory::noteArithmetic(RunId run, RequestId request, const trace::ArithmeticMeasured& measured) {
  changeOne(run, [&](RunRecord& record) {
    record.arithmetic[request] = std::make_shared<const trace::ArithmeticMeasured>(measured);
  });
}

void RunHistory::setDocument(RunId run, const QString& path, const QString& title) {
  changeOne(run, [&](RunRecord& record) {
    record.path = path;
    record.document = title;
  });
}

void RunHistory::setFile(RunId run, const QString& file) {
  changeOne(run, [&file](RunRecord& record) { record.file = file; });
}

void RunHistory::setTrace(RunId run, const std::shared_ptr<const TraceStore>& trace) {
  changeOne(run, [&trace](RunRecord& record) { record.trace = trace; });
}

void RunHistory::replaceTrace(const TraceStore* old, const std::shared_ptr<const TraceStore>& now) {
  change([&](RunRecords& records) {
    for (std::shared_ptr<const RunRecord>& record : records) {
      if (record->trace.get() != old) continue;
      auto other = std::make_shared<RunRecord>(*record);
      other->trace = now && now->newest().progress().runs.contains(record->run) ? now : nullptr;
      record = std::move(other);
    }
  });
}

std::uint64_t RunHistory::traceBytes() const {
  std::set<const TraceStore*> counted;
  std::uint64_t bytes = 0;
  for (const auto& record : *m_records) {
    if (record->trace && counted.insert(record->trace.get()).second) bytes += record->trace->bytes();
  }
  return bytes;
}

void RunHistory::bound(std::uint64_t bytes, const std::function<bool(const TraceStore*)>& isShown) {
  std::uint64_t now = traceBytes();
  const std::shared_ptr<const RunRecords> before = m_records;
  for (const auto& record : *before) {
    if (now <= bytes) return;
    const std::shared_ptr<const TraceStore> trace = record->trace;
    // A trace that was dropped for an earlier run was dropped for all its runs.
    if (!trace || isShown(trace.get()) || find(record->run)->trace != trace) continue;
    now -= std::min(now, trace->bytes());
    replaceTrace(trace.get(), nullptr);
  }
}

RunRecords recordsOf(const std::shared_ptr<const TraceStore>& trace, const QString& document) {
  RunRecords records;
  const trace::Progress& progress = trace->newest().progress();
  const QString model = QString::fromStdString(checkpoint::Checkpoint(progress.model).name());
  for (const auto& [id, run] : progress.runs) {
    auto record = std::make_shared<RunRecord>();
    record->run = id;
    record->document = document;
    record->model = model;
    record->otherNames = otherNames(*run.queryJson, model);
    record->settings.model = progress.model;
    record->settings.policy = run.policy;
    record->settings.seed = run.seed;
    if (const trace::LayoutChosen* chosen = trace->layoutOf(id)) record->settings.layout = chosen->layout;
    record->hasSettings = false;
    record->trace = trace;
    if (run.outcome) finish(*record);
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace spanscope::ui
