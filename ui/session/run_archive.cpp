// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_archive.h"

#include "engine/base/error.h"
#include "engine/trace/trace_file.h"
#include "ui/session/run_part.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLockFile>
#include <QRegularExpression>
#include <QSaveFile>

#include <algorithm>
#include <future>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kVersion = 1;
constexpr qint64 kMostText = 64LL << 20;  ///< bytes of a small file; more is none of ours

const QLatin1String kSmall(".run");
const QLatin1String kTrace(".trace");
const QLatin1String kNumbers("numbers");  ///< file of the largest numbers that were taken
const QLatin1String kNumbersLock("numbers.lock");
const QLatin1String kRunNumber("run");
const QLatin1String kRequestNumber("request");
constexpr qint64 kMostNumbers = 1024;  ///< bytes of that file
/// How long the files of a run may be written; those of a program that ended meanwhile are older.
constexpr qint64 kSecondsToWrite = 3600;

/// The files of each run by the common part of their names, also those that were never finished.
std::map<QString, QFileInfoList> filesByRun(const QDir& folder) {
  static const QRegularExpression form(QStringLiteral("^\\.?([0-9]{16}-[0-9]+)\\."));
  std::map<QString, QFileInfoList> runs;
  for (const QFileInfo& file : folder.entryInfoList(QDir::Files | QDir::Hidden)) {
    const QRegularExpressionMatch name = form.match(file.fileName());
    if (name.hasMatch()) runs[name.captured(1)] << file;
  }
  return runs;
}

QString text(const std::string& value) {
  return QString::fromStdString(value);
}

std::string text(const QJsonValue& value) {
  return value.toString().toStdString();
}

/// JSON's numbers are exact up to 2^53: a seed is not.
QJsonValue exact(std::uint64_t value) {
  return QString::number(value);
}

QJsonObject settingsOf(const workbench::RunSettings& settings) {
  QJsonObject object;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    const QString key = QString::fromLatin1(setting.key.data(), static_cast<qsizetype>(setting.key.size()));
    std::visit(
        [&](auto member) {
          using Value = std::decay_t<decltype(settings.*member)>;
          const Value& value = settings.*member;
          if constexpr (std::is_same_v<Value, std::string>) {
            object[key] = text(value);
          } else if constexpr (std::is_same_v<Value, bool>) {
            object[key] = value;
          } else if constexpr (std::is_same_v<Value, std::vector<std::int32_t>>) {
            QJsonArray list;
            for (const std::int32_t entry : value) list.append(entry);
            object[key] = list;
          } else {
            object[key] = exact(static_cast<std::uint64_t>(value));
          }
        },
        setting.member);
  }
  return object;
}

workbench::RunSettings settingsFrom(const QJsonObject& object) {
  workbench::RunSettings settings;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    const QJsonValue value =
        object[QString::fromLatin1(setting.key.data(), static_cast<qsizetype>(setting.key.size()))];
    if (value.isUndefined()) continue;
    std::visit(
        [&](auto member) {
          using Value = std::decay_t<decltype(settings.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            settings.*member = text(value);
          } else if constexpr (std::is_same_v<Value, bool>) {
            settings.*member = value.toBool();
          } else if constexpr (std::is_same_v<Value, std::vector<std::int32_t>>) {
            for (const QJsonValue entry : value.toArray()) (settings.*member).push_back(entry.toInt());
          } else {
            settings.*member = static_cast<Value>(value.toString().toULongLong());
          }
        },
        setting.member);
  }
  return settings;
}

QJsonObject metricsOf(const trace::StepMetrics& metrics) {
  return {{QStringLiteral("step"), qint64(metrics.step)},
          {QStringLiteral("prompt"), qint64(metrics.promptTokens)},
          {QStringLiteral("cached"), qint64(metrics.cachedTokens)},
          {QStringLiteral("relocated"), qint64(metrics.relocatedTokens)},
          {QStringLiteral("computed"), qint64(metrics.computedTokens)},
          {QStringLiteral("generated"), qint64(metrics.generatedTokens)},
          {QStringLiteral("ttft"), metrics.timeToFirstToken},
          {QStringLiteral("itl"), metrics.interTokenLatency},
          {QStringLiteral("queue"), metrics.queueTime},
          {QStringLiteral("preemptions"), qint64(metrics.preemptions)},
          {QStringLiteral("recomputed"), qint64(metrics.recomputedTokens)}};
}

trace::StepMetrics metricsFrom(const QJsonObject& object) {
  return {.step = static_cast<StepIndex>(object[QStringLiteral("step")].toInt()),
          .promptTokens = object[QStringLiteral("prompt")].toInteger(),
          .cachedTokens = object[QStringLiteral("cached")].toInteger(),
          .relocatedTokens = object[QStringLiteral("relocated")].toInteger(),
          .computedTokens = object[QStringLiteral("computed")].toInteger(),
          .generatedTokens = object[QStringLiteral("generated")].toInteger(),
          .timeToFirstToken = object[QStringLiteral("ttft")].toDouble(),
          .interTokenLatency = object[QStringLiteral("itl")].toDouble(),
          .queueTime = object[QStringLiteral("queue")].toDouble(),
          .preemptions = object[QStringLiteral("preemptions")].toInteger(),
          .recomputedTokens = object[QStringLiteral("recomputed")].toInteger()};
}

QJsonObject reportObject(const trace::ServerReported& reported) {
  QJsonObject object{{QStringLiteral("server"), text(reported.server)},
                     {QStringLiteral("model"), text(reported.model)},
                     {QStringLiteral("state"), static_cast<int>(reported.cached)},
                     {QStringLiteral("cached"), qint64(reported.cachedTokens)},
                     {QStringLiteral("seconds"), reported.seconds},
                     {QStringLiteral("finish"), text(reported.finish)},
                     {QStringLiteral("brokenBy"), text(reported.brokenBy)}};
  if (reported.promptTokens) object[QStringLiteral("prompt")] = qint64(*reported.promptTokens);
  if (reported.generatedTokens) object[QStringLiteral("generated")] = qint64(*reported.generatedTokens);
  if (reported.timeToFirstToken) object[QStringLiteral("ttft")] = *reported.timeToFirstToken;
  return object;
}

trace::ServerReported reportFrom(StepIndex step, const QJsonObject& object) {
  trace::ServerReported reported;
  reported.step = step;
  reported.server = text(object[QStringLiteral("server")]);
  reported.model = text(object[QStringLiteral("model")]);
  const int state = object[QStringLiteral("state")].toInt(-1);
  if (state >= 0 && state <= static_cast<int>(trace::CachedState::CannotReport))
    reported.cached = static_cast<trace::CachedState>(state);
  reported.cachedTokens = object[QStringLiteral("cached")].toInteger();
  reported.seconds = object[QStringLiteral("seconds")].toDouble();
  reported.finish = text(object[QStringLiteral("finish")]);
  reported.brokenBy = text(object[QStringLiteral("brokenBy")]);
  if (object.contains(QStringLiteral("prompt")))
    reported.promptTokens = object[QStringLiteral("prompt")].toInteger();
  if (object.contains(QStringLiteral("generated")))
    reported.generatedTokens = object[QStringLiteral("generated")].toInteger();
  if (object.contains(QStringLiteral("ttft")))
    reported.timeToFirstToken = object[QStringLiteral("ttft")].toDouble();
  return reported;
}

QJsonObject requestOf(RequestId id, const trace::RequestState& request) {
  QJsonObject object{{QStringLiteral("id"), qint64(id)},
                     {QStringLiteral("node"), text(request.node)},
                     {QStringLiteral("step"), qint64(request.step)},
                     {QStringLiteral("copy"), qint64(request.copy)},
                     {QStringLiteral("text"), text(request.text)},
                     {QStringLiteral("prompt"), qint64(request.promptTokens)},
                     {QStringLiteral("cached"), qint64(request.cachedTokens)},
                     {QStringLiteral("relocated"), qint64(request.relocatedTokens)},
                     {QStringLiteral("computed"), qint64(request.computedTokens)},
                     {QStringLiteral("generated"), qint64(request.generatedTokens)}};
  if (request.outcome) object[QStringLiteral("outcome")] = static_cast<int>(*request.outcome);
  if (request.metrics) object[QStringLiteral("metrics")] = metricsOf(*request.metrics);
  if (request.reported) object[QStringLiteral("reported")] = reportObject(*request.reported);
  return object;
}

trace::RequestState requestFrom(RunId run, const QJsonObject& object) {
  trace::RequestState request;
  request.run = run;
  request.node = text(object[QStringLiteral("node")]);
  request.step = static_cast<StepIndex>(object[QStringLiteral("step")].toInt());
  request.copy = static_cast<std::uint32_t>(object[QStringLiteral("copy")].toInt());
  request.phase = trace::RequestPhase::Finished;
  request.text = text(object[QStringLiteral("text")]);
  request.promptTokens = object[QStringLiteral("prompt")].toInteger();
  request.cachedTokens = object[QStringLiteral("cached")].toInteger();
  request.relocatedTokens = object[QStringLiteral("relocated")].toInteger();
  request.computedTokens = object[QStringLiteral("computed")].toInteger();
  request.generatedTokens = object[QStringLiteral("generated")].toInteger();
  const int outcome = object[QStringLiteral("outcome")].toInt(-1);
  if (outcome >= 0 && outcome <= static_cast<int>(trace::StepOutcome::Failed))
    request.outcome = static_cast<trace::StepOutcome>(outcome);
  if (object.contains(QStringLiteral("metrics")))
    request.metrics = metricsFrom(object[QStringLiteral("metrics")].toObject());
  if (object.contains(QStringLiteral("reported")))
    request.reported = reportFrom(request.step, object[QStringLiteral("reported")].toObject());
  return request;
}

template <class T, class Of>
QJsonArray arrayOf(const std::vector<T>& list, Of of) {
  QJsonArray array;
  for (const T& entry : list) array.append(of(entry));
  return array;
}

QJsonObject fidelityObject(RequestId request, const trace::FidelityMeasured& measured) {
  const auto token = [](const trace::FidelityToken& one) {
    return QJsonArray{one.token,    one.divergence,        one.policyBest,
                      one.fullBest, one.policyProbability, one.fullProbability};
  };
  return {{QStringLiteral("id"), qint64(request)},
          {QStringLiteral("prompt"), qint64(measured.promptTokens)},
          {QStringLiteral("cached"), qint64(measured.cachedTokens)},
          {QStringLiteral("recomputed"), qint64(measured.recomputedTokens)},
          {QStringLiteral("tokens"), arrayOf(measured.tokens, token)},
          {QStringLiteral("fullAnswer"), arrayOf(measured.fullAnswer, [](TokenId id) { return int(id); })},
          {QStringLiteral("fullText"), text(measured.fullText)},
          {QStringLiteral("sameText"), measured.sameText},
          {QStringLiteral("attentionRows"), measured.attentionRows},
          {QStringLiteral("attention"),
           arrayOf(measured.attentionDeviation, [](double value) { return value; })}};
}

trace::FidelityMeasured fidelityFrom(const QJsonObject& object) {
  trace::FidelityMeasured measured{.promptTokens = object[QStringLiteral("prompt")].toInteger(),
                                   .cachedTokens = object[QStringLiteral("cached")].toInteger(),
                                   .recomputedTokens = object[QStringLiteral("recomputed")].toInteger(),
                                   .tokens = {},
                                   .fullAnswer = {},
                                   .fullText = text(object[QStringLiteral("fullText")]),
                                   .sameText = object[QStringLiteral("sameText")].toBool(),
                                   .attentionRows = object[QStringLiteral("attentionRows")].toInt(),
                                   .attentionDeviation = {}};
  for (const QJsonValue entry : object[QStringLiteral("tokens")].toArray()) {
    const QJsonArray token = entry.toArray();
    measured.tokens.push_back({.token = token.at(0).toInt(),
                               .divergence = token.at(1).toDouble(),
                               .policyBest = token.at(2).toInt(),
                               .fullBest = token.at(3).toInt(),
                               .policyProbability = token.at(4).toDouble(),
                               .fullProbability = token.at(5).toDouble()});
  }
  for (const QJsonValue entry : object[QStringLiteral("fullAnswer")].toArray())
    measured.fullAnswer.push_back(entry.toInt());
  for (const QJsonValue entry : object[QStringLiteral("attention")].toArray())
    measured.attentionDeviation.push_back(entry.toDouble());
  return measured;
}

QJsonObject arithmeticObject(RequestId request, const trace::ArithmeticMeasured& measured) {
  const auto token = [](const trace::ArithmeticToken& one) {
    return QJsonArray{one.token,     one.divergence,  one.best,
                      one.exactBest, one.probability, one.exactProbability};
  };
  return {{QStringLiteral("id"), qint64(request)},
          {QStringLiteral("arithmetic"), text(measured.arithmetic)},
          {QStringLiteral("tokens"), arrayOf(measured.tokens, token)}};
}

trace::ArithmeticMeasured arithmeticFrom(const QJsonObject& object) {
  trace::ArithmeticMeasured measured{.arithmetic = text(object[QStringLiteral("arithmetic")]), .tokens = {}};
  for (const QJsonValue entry : object[QStringLiteral("tokens")].toArray()) {
    const QJsonArray token = entry.toArray();
    measured.tokens.push_back({.token = token.at(0).toInt(),
                               .divergence = token.at(1).toDouble(),
                               .best = token.at(2).toInt(),
                               .exactBest = token.at(3).toInt(),
                               .probability = token.at(4).toDouble(),
                               .exactProbability = token.at(5).toDouble()});
  }
  return measured;
}

QJsonObject accountObject(RequestId request, const trace::PromptAccount& account) {
  return {{QStringLiteral("id"), qint64(request)},
          {QStringLiteral("hit"), qint64(account.prompt.hit)},
          {QStringLiteral("relocated"), qint64(account.prompt.relocated)},
          {QStringLiteral("computed"), qint64(account.prompt.computed)},
          {QStringLiteral("again"), qint64(account.prompt.again)},
          {QStringLiteral("padded"), qint64(account.prompt.padded)},
          {QStringLiteral("cropped"), qint64(account.prompt.cropped)},
          {QStringLiteral("unread"), qint64(account.unread)},
          {QStringLiteral("beside"), qint64(account.beside)}};
}

trace::PromptAccount accountFrom(const QJsonObject& object) {
  return {.prompt = {.hit = object[QStringLiteral("hit")].toInteger(),
                     .relocated = object[QStringLiteral("relocated")].toInteger(),
                     .computed = object[QStringLiteral("computed")].toInteger(),
                     .again = object[QStringLiteral("again")].toInteger(),
                     .padded = object[QStringLiteral("padded")].toInteger(),
                     .cropped = object[QStringLiteral("cropped")].toInteger()},
          .unread = object[QStringLiteral("unread")].toInteger(),
          .beside = object[QStringLiteral("beside")].toInteger()};
}

void addFigures(QJsonObject& object, const trace::Progress& figures, const trace::RunState& run) {
  object[QStringLiteral("checkpoint")] = text(figures.model);
  object[QStringLiteral("backend")] = text(figures.backend);
  object[QStringLiteral("query")] = text(*run.queryJson);
  object[QStringLiteral("policy")] = text(run.policy);
  object[QStringLiteral("seed")] = exact(run.seed);
  object[QStringLiteral("answer")] = text(run.answer);
  if (run.outcome) object[QStringLiteral("outcome")] = static_cast<int>(*run.outcome);
  object[QStringLiteral("nanoseconds")] = qint64(run.finishedAt - run.startedAt);
  QJsonArray steps;
  for (const trace::PlannedStep& step : run.plan->steps) {
    steps.append(QJsonObject{{QStringLiteral("step"), qint64(step.step)},
                             {QStringLiteral("node"), text(step.node)},
                             {QStringLiteral("copy"), qint64(step.copy)}});
  }
  object[QStringLiteral("steps")] = steps;
  QJsonArray requests;
  for (const RequestId id : run.requests) {
    const auto found = figures.requests.find(id);
    if (found != figures.requests.end()) requests.append(requestOf(id, found->second));
  }
  object[QStringLiteral("requests")] = requests;
}

std::shared_ptr<const trace::Progress> figuresFrom(RunId id, const QJsonObject& object) {
  auto figures = std::make_shared<trace::Progress>();
  figures->model = text(object[QStringLiteral("checkpoint")]);
  figures->backend = text(object[QStringLiteral("backend")]);
  trace::RunState run;
  run.queryJson = text(object[QStringLiteral("query")]);
  run.policy = text(object[QStringLiteral("policy")]);
  run.seed = object[QStringLiteral("seed")].toString().toULongLong();
  run.answer = text(object[QStringLiteral("answer")]);
  const int outcome = object[QStringLiteral("outcome")].toInt(-1);
  if (outcome >= 0 && outcome <= static_cast<int>(trace::RunOutcome::Failed))
    run.outcome = static_cast<trace::RunOutcome>(outcome);
  run.startedAt = 0;
  run.finishedAt = std::max<qint64>(0, object[QStringLiteral("nanoseconds")].toInteger());
  trace::PlanMade plan;
  for (const QJsonValue entry : object[QStringLiteral("steps")].toArray()) {
    const QJsonObject step = entry.toObject();
    plan.steps.push_back({.step = static_cast<StepIndex>(step[QStringLiteral("step")].toInt()),
                          .node = text(step[QStringLiteral("node")]),
                          .copy = static_cast<std::uint32_t>(step[QStringLiteral("copy")].toInt()),
                          .ply = 0,
                          .needs = {}});
  }
  run.plan = std::move(plan);
  for (const QJsonValue entry : object[QStringLiteral("requests")].toArray()) {
    const QJsonObject request = entry.toObject();
    const auto requestId = static_cast<RequestId>(request[QStringLiteral("id")].toInteger());
    if (requestId == 0) continue;
    run.requests.push_back(requestId);
    figures->requests.set(requestId, requestFrom(id, request));
  }
  figures->runs.set(id, std::move(run));
  return figures;
}

QJsonArray listOf(const QStringList& texts) {
  return QJsonArray::fromStringList(texts);
}

QStringList textsOf(const QJsonValue& value) {
  QStringList texts;
  for (const QJsonValue entry : value.toArray()) texts += entry.toString();
  return texts;
}

}  // namespace

QByteArray recordText(const RunRecord& record) {
  QJsonObject object{{QStringLiteral("spanscopeRun"), kVersion},
                     {QStringLiteral("run"), qint64(record.run)},
                     {QStringLiteral("document"), record.document},
                     {QStringLiteral("path"), record.path},
                     {QStringLiteral("model"), record.model},
                     {QStringLiteral("otherNames"), listOf(record.otherNames)},
                     {QStringLiteral("madeFor"), record.madeFor},
                     {QStringLiteral("settings"), settingsOf(record.settings)},
                     {QStringLiteral("startedAt"), qint64(record.startedAt)},
                     {QStringLiteral("warnings"), listOf(record.warnings)}};
  if (record.prefillRate) object[QStringLiteral("prefillRate")] = *record.prefillRate;
  if (record.decodeRate) object[QStringLiteral("decodeRate")] = *record.decodeRate;
  QJsonArray fidelity;
  for (const auto& [request, measured] : record.fidelity) fidelity.append(fidelityObject(request, *measured));
  if (!fidelity.isEmpty()) object[QStringLiteral("fidelity")] = fidelity;
  QJsonArray arithmetic;
  for (const auto& [request, measured] : record.arithmetic)
    arithmetic.append(arithmeticObject(request, *measured));
  if (!arithmetic.isEmpty()) object[QStringLiteral("arithmetic")] = arithmetic;
  QJsonArray accounts;
  for (const auto& [request, account] : record.accounts) accounts.append(accountObject(request, account));
  if (!accounts.isEmpty()) object[QStringLiteral("accounts")] = accounts;
  if (record.figures && record.figures->runs.contains(record.run))
    addFigures(object, *record.figures, record.figures->runs.at(record.run));
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<RunRecord> readRecord(const QByteArray& text) {
  const QJsonObject object = QJsonDocument::fromJson(text).object();
  if (object[QStringLiteral("spanscopeRun")].toInt() != kVersion) return std::nullopt;
  RunRecord record;
  record.run = static_cast<RunId>(object[QStringLiteral("run")].toInteger());
  if (record.run == 0) return std::nullopt;
  record.document = object[QStringLiteral("document")].toString();
  record.path = object[QStringLiteral("path")].toString();
  record.model = object[QStringLiteral("model")].toString();
  record.otherNames = textsOf(object[QStringLiteral("otherNames")]);
  record.madeFor = object[QStringLiteral("madeFor")].toString();
  record.settings = settingsFrom(object[QStringLiteral("settings")].toObject());
  record.startedAt = object[QStringLiteral("startedAt")].toInteger();
  record.warnings = textsOf(object[QStringLiteral("warnings")]);
  if (object.contains(QStringLiteral("prefillRate")))
    record.prefillRate = object[QStringLiteral("prefillRate")].toDouble();
  if (object.contains(QStringLiteral("decodeRate")))
    record.decodeRate = object[QStringLiteral("decodeRate")].toDouble();
  for (const QJsonValue entry : object[QStringLiteral("accounts")].toArray()) {
    const QJsonObject one = entry.toObject();
    record.accounts[static_cast<RequestId>(one[QStringLiteral("id")].toInteger())] = accountFrom(one);
  }
  for (const QJsonValue entry : object[QStringLiteral("fidelity")].toArray()) {
    const QJsonObject one = entry.toObject();
    record.fidelity[static_cast<RequestId>(one[QStringLiteral("id")].toInteger())] =
        std::make_shared<const trace::FidelityMeasured>(fidelityFrom(one));
  }
  for (const QJsonValue entry : object[QStringLiteral("arithmetic")].toArray()) {
    const QJsonObject one = entry.toObject();
    record.arithmetic[static_cast<RequestId>(one[QStringLiteral("id")].toInteger())] =
        std::make_shared<const trace::ArithmeticMeasured>(arithmeticFrom(one));
  }
  record.figures = figuresFrom(record.run, object);
  return record;
}

RunArchive::RunArchive(QString folder, std::uint64_t mostBytes, QObject* parent)
    : QObject(parent), m_folder(std::move(folder)), m_mostBytes(mostBytes) {}

RunArchive::~RunArchive() {
  flush();
}

void RunArchive::flush() {
  std::promise<void> done;
  m_thread.post([&done] { done.set_value(); });
  done.get_future().wait();
}

RunNumbers RunArchive::reserve(const RunNumbers& last, std::uint32_t requests) {
  constexpr int kWait = 1000;  // milliseconds
  const QDir folder(m_folder);
  if (!QDir().mkpath(m_folder)) return last;
  QLockFile lock(folder.filePath(kNumbersLock));
  if (!lock.tryLock(kWait)) return last;
  const QString path = folder.filePath(kNumbers);
  RunNumbers taken = last;
  if (QFile file(path); file.open(QIODevice::ReadOnly)) {
    const QJsonObject object = QJsonDocument::fromJson(file.read(kMostNumbers)).object();
    const auto numberOf = [&object](QLatin1String key) {
      return static_cast<std::uint32_t>(
          std::clamp<qint64>(object[key].toInteger(), 0, std::numeric_limits<std::int32_t>::max()));
    };
    taken.run = std::max(last.run, numberOf(kRunNumber));
    taken.request = std::max(last.request, numberOf(kRequestNumber));
  }
  QSaveFile file(path);
  const QJsonObject next{{kRunNumber, qint64(taken.run) + 1},
                         {kRequestNumber, qint64(taken.request) + requests}};
  const bool isWritten = file.open(QIODevice::WriteOnly) &&
                         file.write(QJsonDocument(next).toJson(QJsonDocument::Compact)) > 0 && file.commit();
  return isWritten ? taken : last;
}

std::vector<RunRecord> RunArchive::load() const {
  std::map<RunId, RunRecord> byNumber;
  const QDir folder(m_folder);
  for (const QString& name : folder.entryList({QLatin1Char('*') + kSmall}, QDir::Files, QDir::Name)) {
    QFile file(folder.filePath(name));
    if (file.size() > kMostText || !file.open(QIODevice::ReadOnly)) continue;
    std::optional<RunRecord> record = readRecord(file.readAll());
    if (!record) continue;
    const QString trace = folder.filePath(name.chopped(kSmall.size()) + kTrace);
    if (QFileInfo::exists(trace)) record->file = trace;
    RunRecord& place = byNumber[record->run];
    if (place.run == 0 || place.startedAt < record->startedAt) place = std::move(*record);
  }
  std::vector<RunRecord> records;
  for (auto& [run, record] : byNumber) records.push_back(std::move(record));
  return records;
}

void RunArchive::save(const RunRecord& record) {
  if (!record.trace || !record.figures) return;
  // Copied here: a live trace grows, and is read on this thread alone.
  auto events = std::make_shared<const std::vector<trace::Event>>(runPart(*record.trace, record.run));
  m_thread.post([this, record, events] { write(record, *events); });
}

void RunArchive::write(const RunRecord& record, const std::vector<trace::Event>& events) {
  const QString stem =
      QStringLiteral("%1-%2").arg(record.startedAt, 16, 10, QLatin1Char('0')).arg(record.run);
  const QString trace = QDir(m_folder).filePath(stem + kTrace);
  const auto tell = [this](auto what) {
    QMetaObject::invokeMethod(this, std::move(what), Qt::QueuedConnection);
  };
  try {
    if (!QDir().mkpath(m_folder)) throw Failure({m_folder.toStdString(), "", "no such folder", "one"});
    // The small file first: whatever ends the program in between, the run is listed and its files are
    // counted.
    QSaveFile file(QDir(m_folder).filePath(stem + kSmall));
    if (!file.open(QIODevice::WriteOnly) || file.write(recordText(record)) < 0 || !file.commit())
      throw Failure({file.fileName().toStdString(), "", file.errorString().toStdString(), "a written file"});
    trace::writeTrace(trace.toStdString(), events,
                      {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                       .createdAt = record.startedAt});
  } catch (const Failure& failure) {
    tell([this, problem = QString::fromUtf8(failure.what())] { Q_EMIT failed(problem); });
    return;
  }
  bound();
  tell([this, run = record.run, trace] { Q_EMIT saved(run, trace); });
}

void RunArchive::bound() const {
  const QDateTime young = QDateTime::currentDateTime().addSecs(-kSecondsToWrite);
  std::uint64_t bytes = 0;
  // The newest first: names begin with the time. The files of a run go together.
  const std::map<QString, QFileInfoList> runs = filesByRun(QDir(m_folder));
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const QFileInfoList& files = run->second;
    bool isListed = false;
    bool isYoung = false;
    for (const QFileInfo& file : files) {
      bytes += static_cast<std::uint64_t>(file.size());
      isListed = isListed || file.fileName() == run->first + kSmall;
      isYoung = isYoung || file.lastModified() > young;
    }
    // Without a small file, no list has it; another program may be writing it.
    if (isListed ? bytes <= m_mostBytes : isYoung) continue;
    for (const QFileInfo& file : files) {
      if (file.fileName() != run->first + kSmall) QFile::remove(file.filePath());
    }
    if (isListed) QFile::remove(QDir(m_folder).filePath(run->first + kSmall));
  }
}

void RunArchive::clear() {
  m_thread.post([this] {
    const QDir folder(m_folder);
    for (const auto& [run, files] : filesByRun(folder)) {
      for (const QFileInfo& file : files) QFile::remove(file.filePath());
    }
    QFile::remove(folder.filePath(kNumbers));
  });
}

}  // namespace spanscope::ui
