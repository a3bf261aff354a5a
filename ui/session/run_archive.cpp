// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_archive.h"

#include "engine/base/error.h"
#include "engine/trace/trace_file.h"
#include "ui/session/run_history.h"
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
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kVersion = 2;
constexpr int kOldVersion = 1;  ///< had the metrics as JSON
constexpr qint64 kMostText =
    64LL << 20;  ///< max bytes of a small file; larger files are not from this program

const QLatin1String kSmall(".run");
const QLatin1String kTrace(".trace");
const QLatin1String kForm("spanscopeRun");  ///< key of the version of a small file
const QLatin1String kMetrics("figures");    ///< key of the small trace, in base 64
const QLatin1String kNumbers("numbers");    ///< file of the largest numbers in use
const QLatin1String kNumbersLock("numbers.lock");
const QLatin1String kRunNumber("run");
const QLatin1String kRequestNumber("request");
constexpr qint64 kMostNumbers = 1024;  ///< bytes of that file
/// The files of a run are written within this time. Older unfinished files are from a program that ended
/// early.
constexpr qint64 kSecondsToWrite = 3600;

/// The files of each run by the common part of their names, including unfinished files.
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

/// JSON numbers are exact up to 2^53, and a seed may be larger.
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

QJsonObject accountObject(RequestId request, const metrics::PromptAccount& account) {
  return {{QStringLiteral("id"), qint64(request)},
          {QStringLiteral("hit"), qint64(account.prompt.hit)},
          {QStringLiteral("relocated"), qint64(account.prompt.relocated)},
          {QStringLiteral("computed"), qint64(account.prompt.computed)},
          {QStringLiteral("again"), qint64(account.prompt.again)},
          {QStringLiteral("padding"), qint64(account.prompt.padding)},
          {QStringLiteral("delimiters"), qint64(account.prompt.delimiters)},
          {QStringLiteral("cropped"), qint64(account.prompt.cropped)},
          {QStringLiteral("unread"), qint64(account.unread)},
          {QStringLiteral("beside"), qint64(account.beside)}};
}

metrics::PromptAccount accountFrom(const QJsonObject& object) {
  return {.prompt = {.hit = object[QStringLiteral("hit")].toInteger(),
                     .relocated = object[QStringLiteral("relocated")].toInteger(),
                     .computed = object[QStringLiteral("computed")].toInteger(),
                     .again = object[QStringLiteral("again")].toInteger(),
                     // Older archives have one count of padding and delimiter tokens.
                     .padding = object[QStringLiteral("padding")].toInteger(
                         object[QStringLiteral("padded")].toInteger()),
                     .delimiters = object[QStringLiteral("delimiters")].toInteger(),
                     .cropped = object[QStringLiteral("cropped")].toInteger()},
          .unread = object[QStringLiteral("unread")].toInteger(),
          .beside = object[QStringLiteral("beside")].toInteger()};
}

/// The metrics of a run as a small trace.
class MetricTrace {
 public:
  explicit MetricTrace(const RunRecord& record) : m_record(&record) {}

  /// Empty if the record has no metrics.
  std::vector<trace::Event> events() {
    const trace::Progress* metricValues = m_record->metricValues.get();
    if (metricValues == nullptr || !metricValues->runs.contains(m_record->run)) return {};
    const trace::RunState& run = metricValues->runs.at(m_record->run);
    m_begin = std::max<std::int64_t>(run.startedAt, 0);
    m_end = std::max(run.finishedAt, m_begin);
    addRun(*metricValues, run);
    for (const RequestId id : run.requests) {
      const auto found = metricValues->requests.find(id);
      if (found != metricValues->requests.end()) addRequest(id, found->second);
    }
    if (run.outcome) add(m_end, 0, "", trace::RunFinished{.outcome = *run.outcome, .answer = run.answer});
    for (const auto& [request, measured] : m_record->fidelity) add(m_end, request, "", *measured);
    for (const auto& [request, measured] : m_record->arithmetic) add(m_end, request, "", *measured);
    const auto isEarlier = [](const trace::Event& a, const trace::Event& b) { return a.time < b.time; };
    std::stable_sort(m_events.begin(), m_events.end(), isEarlier);
    // Without the first sequence number, the trace is incomplete, and tokens may be missing.
    std::uint64_t sequence = 1;
    for (trace::Event& event : m_events) event.sequence = ++sequence;
    return std::move(m_events);
  }

 private:
  void addRun(const trace::Progress& metricValues, const trace::RunState& run) {
    add(m_begin, 0, "",
        trace::SessionStarted{.program = metricValues.program,
                              .model = metricValues.model,
                              .backend = metricValues.backend,
                              .threads = metricValues.threads,
                              .layers = metricValues.layers,
                              .heads = metricValues.heads,
                              .pool = {}});
    m_events.back().run = 0;
    add(m_begin, 0, "",
        trace::RunStarted{.queryJson = *run.queryJson, .policy = run.policy, .seed = run.seed});
    add(m_begin, 0, "", trace::PlanMade{.steps = run.plan->steps, .explain = {}});
  }

  void addRequest(RequestId id, const trace::RequestState& request) {
    std::int64_t time = m_begin;
    const auto next = [&](std::int64_t at, trace::Payload payload) {
      time = std::max(time, at);
      add(time, id, request.node, std::move(payload));
    };
    next(request.startedAt, trace::StepStarted{.step = request.step, .copy = request.copy});
    if (request.promptTokens > 0 || request.admittedAt >= 0) {
      next(request.admittedAt, trace::RequestAdmitted{.promptTokens = request.promptTokens,
                                                      .cachedTokens = request.cachedTokens,
                                                      .relocatedTokens = request.relocatedTokens});
    }
    if (request.computedTokens > 0) {
      const auto rows = static_cast<std::int32_t>(std::min(request.computedTokens, kMostTokens));
      next(time, trace::BatchComputed{.entries = {{.request = id, .count = rows}}, .nanoseconds = 0});
    }
    if (request.firstTokenAt >= 0) next(request.firstTokenAt, pieceOf(request, 0));
    if (request.generatedTokens > 1) next(request.lastTokenAt, pieceOf(request, request.generatedTokens - 1));
    if (request.metrics) next(request.finishedAt, *request.metrics);
    if (request.reported) next(request.finishedAt, *request.reported);
    if (request.outcome) {
      next(request.finishedAt,
           trace::StepFinished{.step = request.step, .outcome = *request.outcome, .text = request.text});
    } else if (!request.text.empty()) {
      next(time, trace::TextReceived{.text = request.text});
    }
  }

  static constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max() - 1;

  /// A token, or the first text if a server does not send single tokens.
  static trace::Payload pieceOf(const trace::RequestState& request, std::int64_t index) {
    if (request.generatedTokens == 0) return trace::TextReceived{};
    trace::TokenGenerated token;
    token.index = static_cast<std::int32_t>(std::min(index, kMostTokens));
    return token;
  }

  void add(std::int64_t time, RequestId request, const NodePath& node, trace::Payload payload) {
    trace::Event event;
    event.time = std::max(time, m_begin) - m_begin;
    event.session = 1;
    event.run = m_record->run;
    event.request = request;
    event.node = node;
    event.payload = std::move(payload);
    m_events.push_back(std::move(event));
  }

  const RunRecord* m_record;
  std::int64_t m_begin = 0;  ///< nanoseconds in the session
  std::int64_t m_end = 0;
  std::vector<trace::Event> m_events;
};

/// Reads metrics and measurements of the record's run from its small trace or its whole trace. Leaves out
/// events that contradict others. Throws Failure if the trace does not have the run.
void takeMetrics(const std::vector<trace::Event>& events, RunRecord& record) {
  trace::Replay replay;
  for (const trace::Event& event : events) {
    if (replay.apply(event) || event.run != record.run) continue;
    if (const auto* measured = std::get_if<trace::FidelityMeasured>(&event.payload))
      record.fidelity[event.request] = std::make_shared<const trace::FidelityMeasured>(*measured);
    if (const auto* measured = std::get_if<trace::ArithmeticMeasured>(&event.payload))
      record.arithmetic[event.request] = std::make_shared<const trace::ArithmeticMeasured>(*measured);
  }
  record.metricValues = runSummary(replay.progress(), record.run);
  if (!record.metricValues)
    throw Failure(errorAt("run", "The file has no events of run " + std::to_string(record.run) + ".", {}));
}

/// Reads the metrics of a record of version 1: from the trace next to the record, or without a trace from the
/// record's text.
void takeOldMetrics(const QJsonObject& object, const QString& traceFile, RunRecord& record) {
  try {
    takeMetrics(trace::readTrace(traceFile.toStdString()).events, record);
  } catch (const Failure& failure) {
    record.warnings += QCoreApplication::translate("RunArchive",
                                                   "An earlier version of Spanscope saved this run. "
                                                   "Spanscope cannot read the metrics of the run: %1")
                           .arg(QString::fromUtf8(failure.what()));
    auto metricValues = std::make_shared<trace::Progress>();
    trace::RunState& run = metricValues->runs.edit(record.run);
    run.queryJson = text(object[QStringLiteral("query")]);
    run.policy = text(object[QStringLiteral("policy")]);
    run.seed = object[QStringLiteral("seed")].toString().toULongLong();
    run.answer = text(object[QStringLiteral("answer")]);
    run.outcome = trace::RunOutcome::Finished;
    run.startedAt = 0;
    run.finishedAt = std::max<qint64>(0, object[QStringLiteral("nanoseconds")].toInteger());
    record.metricValues = std::move(metricValues);
  }
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
  QJsonObject object{{kForm, kVersion},
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
  QJsonArray accounts;
  for (const auto& [request, account] : record.accounts) accounts.append(accountObject(request, account));
  if (!accounts.isEmpty()) object[QStringLiteral("accounts")] = accounts;
  const std::vector<std::uint8_t> trace = trace::traceBytes(MetricTrace(record).events());
  object[kMetrics] = QString::fromLatin1(
      QByteArray(reinterpret_cast<const char*>(trace.data()), static_cast<qsizetype>(trace.size()))
          .toBase64());
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

std::optional<RunRecord> readRecord(const QByteArray& text, const QString& traceFile) {
  const QJsonObject object = QJsonDocument::fromJson(text).object();
  const int version = object[kForm].toInt();
  if (version != kVersion && version != kOldVersion) return std::nullopt;
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
  try {
    if (version == kVersion) {
      const QByteArray trace = QByteArray::fromBase64(object[kMetrics].toString().toLatin1());
      takeMetrics(trace::readTrace(std::span(reinterpret_cast<const std::uint8_t*>(trace.data()),
                                             static_cast<std::size_t>(trace.size())),
                                   "run")
                      .events,
                  record);
    } else {
      takeOldMetrics(object, traceFile, record);
    }
  } catch (const Failure&) {
    return std::nullopt;
  }
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
    const QString trace = folder.filePath(name.chopped(kSmall.size()) + kTrace);
    const QByteArray text = file.readAll();
    std::optional<RunRecord> record = readRecord(text, trace);
    if (!record) continue;
    file.close();
    // The record is saved in the current version, so that its trace is read only once.
    const bool isOld = QJsonDocument::fromJson(text).object()[kForm].toInt() == kOldVersion;
    QSaveFile renewed(file.fileName());
    if (isOld && !record->metricValues->requests.empty() && renewed.open(QIODevice::WriteOnly)) {
      renewed.write(recordText(*record));
      renewed.commit();
    }
    if (QFileInfo::exists(trace)) record->file = trace;
    RunRecord& place = byNumber[record->run];
    if (place.run == 0 || place.startedAt < record->startedAt) place = std::move(*record);
  }
  std::vector<RunRecord> records;
  for (auto& [run, record] : byNumber) records.push_back(std::move(record));
  return records;
}

void RunArchive::save(const RunRecord& record) {
  if (!record.trace || !record.metricValues) return;
  // The events are copied, because a live trace grows and may be read on this thread alone.
  auto events = std::make_shared<const std::vector<trace::Event>>(runPart(*record.trace, record.run));
  m_thread.post([this, record, events] { write(record, *events); });
}

void RunArchive::write(const RunRecord& record, const std::vector<trace::Event>& events) {
  const QString stem =
      QStringLiteral("%1-%2").arg(record.startedAt, 16, 10, QLatin1Char('0')).arg(record.run);
  const QString trace = QDir(m_folder).filePath(stem + kTrace);
  const auto report = [this](auto what) {
    QMetaObject::invokeMethod(this, std::move(what), Qt::QueuedConnection);
  };
  try {
    if (!QDir().mkpath(m_folder))
      throw Failure({m_folder.toStdString(), "", "This folder cannot be created.",
                     "Check the permissions of the folder above."});
    // The small file is written first. If the program ends before the trace is written, the run is still
    // listed and its files are counted.
    QSaveFile file(QDir(m_folder).filePath(stem + kSmall));
    if (!file.open(QIODevice::WriteOnly) || file.write(recordText(record)) < 0 || !file.commit())
      throw Failure({file.fileName().toStdString(), "",
                     "The system reports: " + file.errorString().toStdString() + ".", "a writable file"});
    trace::writeTrace(trace.toStdString(), events,
                      {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
                       .createdAt = record.startedAt});
  } catch (const Failure& failure) {
    report([this, problem = QString::fromUtf8(failure.what())] { Q_EMIT failed(problem); });
    return;
  }
  bound();
  report([this, run = record.run, trace] { Q_EMIT saved(run, trace); });
}

void RunArchive::bound() const {
  const QDateTime young = QDateTime::currentDateTime().addSecs(-kSecondsToWrite);
  std::uint64_t bytes = 0;
  // The newest runs come first, because names begin with the time. The files of a run are deleted together.
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
    // A run without a small file is in no list. Another program may still write it.
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
