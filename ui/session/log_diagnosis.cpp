// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/log_diagnosis.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/doctor/quality.h"
#include "engine/simulator/servers.h"
#include "engine/workbench/finder/named_models.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

using Clock = std::chrono::steady_clock;

/// Rows are passed to the window after this time.
constexpr std::chrono::milliseconds kRowPause{200};

std::vector<doctor::LogSource> sourcesOf(const QStringList& files) {
  std::vector<doctor::LogSource> sources;
  for (const QString& file : files)
    sources.push_back({.name = QFileInfo(file).fileName().toStdString(), .path = file.toStdString()});
  return sources;
}

/// The share of each phase in the time of a diagnosis.
double progressOf(doctor::DoctorPhase phase, double share) {
  constexpr double kLog = 0.5;
  constexpr double kEdits = 0.3;
  switch (phase) {
    case doctor::DoctorPhase::Log:
      return kLog * share;
    case doctor::DoctorPhase::Edits:
      return kLog + kEdits * share;
    case doctor::DoctorPhase::Documents:
      break;
  }
  return kLog + kEdits + (1 - kLog - kEdits) * share;
}

/// Throws Failure if one of the first requests cannot be rendered.
void tryFirstRequests(const doctor::PromptTokenizer& tokenizer, const doctor::LogReader& log,
                      const std::stop_token& stop) {
  constexpr int kRequests = 4;
  std::vector<doctor::LoggedRequest> requests;
  std::stop_source enough;
  const std::stop_callback pass(stop, [&enough] { enough.request_stop(); });
  log.read(
      [&](doctor::LoggedRequest&& request) {
        requests.push_back(std::move(request));
        if (requests.size() == kRequests) enough.request_stop();
      },
      [](const doctor::LogProblem&) {}, enough.get_token());
  for (const doctor::LoggedRequest& request : requests) tokenizer.tokens(request, stop);
}

/// Throws Failure if the model cannot be read. A model that the log names must not fail.
std::shared_ptr<doctor::PromptTokenizer> tokenizerOf(const LogSettings& settings,
                                                     const doctor::LogReader& log,
                                                     const std::stop_token& stop) {
  const bool isOfLog = settings.model == QLatin1String(LogSettings::kModelOfLog);
  std::filesystem::path path = settings.model.toStdString();
  if (isOfLog) {
    const std::string name = doctor::modelNameOf(log, stop);
    path = workbench::modelNamed(workbench::modelPlaces(workbench::foldersOfUser(), stop), name)
               .value_or(std::filesystem::path());
  }
  if (path.empty()) return doctor::makeEstimate();
  try {
    std::shared_ptr<doctor::PromptTokenizer> tokenizer =
        doctor::makeModelTokenizer(checkpoint::Checkpoint(path));
    // Without Jinja, this machine cannot render tools. An estimate then shows more.
    if (isOfLog) tryFirstRequests(*tokenizer, log, stop);
    return tokenizer;
  } catch (const Failure&) {
    if (isOfLog) return doctor::makeEstimate();
    throw;
  }
}

LogState::Stage stageOf(doctor::DoctorPhase phase) {
  return phase == doctor::DoctorPhase::Log     ? LogState::Stage::Reading
         : phase == doctor::DoctorPhase::Edits ? LogState::Stage::Edits
                                               : LogState::Stage::Documents;
}

}  // namespace

/// A diagnosis in progress, or the last one. Both threads and the window share it.
struct LogDiagnosis::Reading {
  explicit Reading(const QStringList& files, LogSettings given)
      : log(sourcesOf(files)), settings(std::move(given)) {
    for (const QString& file : files) {
      before.push_back(static_cast<double>(bytes));
      bytes += static_cast<std::uint64_t>(QFileInfo(file).size());
    }
  }

  doctor::LogReader log;
  LogSettings settings;
  std::stop_source stop;
  std::stop_source compareStop;
  std::stop_source sampleStop;
  std::vector<double> before;                          ///< bytes of the files before each file
  std::uint64_t bytes = 0;                             ///< of all files
  std::shared_ptr<doctor::PromptTokenizer> tokenizer;  ///< null: not made yet; made by the first thread
  std::shared_ptr<doctor::LogReport> report = std::make_shared<doctor::LogReport>();  ///< of the window
};

QString LogSettings::text() const {
  QString text = QStringLiteral("server=%1;model=%2").arg(server, model);
  if (prices.tokensPerSecond) text += QStringLiteral(";speed=%1").arg(*prices.tokensPerSecond);
  if (prices.perMillion) text += QStringLiteral(";price=%1").arg(*prices.perMillion);
  return text;
}

LogSettings LogSettings::of(const QString& text) {
  LogSettings settings;
  for (const QString& field : text.split(QLatin1Char(';'))) {
    const QString key = field.section(QLatin1Char('='), 0, 0);
    const QString value = field.section(QLatin1Char('='), 1);
    bool isNumber = false;
    const double number = value.toDouble(&isNumber);
    const bool isAmount = isNumber && number > 0 && number <= 1e9;
    if (key == QLatin1String("server") && simulator::findServer(value.toStdString()) != nullptr)
      settings.server = value;
    if (key == QLatin1String("model")) settings.model = value;
    if (key == QLatin1String("speed") && isAmount) settings.prices.tokensPerSecond = number;
    if (key == QLatin1String("price") && isAmount) settings.prices.perMillion = number;
  }
  return settings;
}

namespace {

/// Whether a file has a request before this number of records that are no requests.
bool hasRequest(const QString& path, int mostProblems) {
  constexpr qint64 kMostBytes = qint64{16} << 20U;
  QFile file(path);
  if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly)) return false;
  // The beginning is enough. A huge file can be one record.
  const doctor::LogSource beginning{.name = path.toStdString(), .text = file.read(kMostBytes).toStdString()};
  std::stop_source stop;
  bool isFound = false;
  int problems = 0;
  try {
    doctor::LogReader({beginning})
        .read(
            [&](doctor::LoggedRequest&&) {
              isFound = true;
              stop.request_stop();
            },
            [&](const doctor::LogProblem&) {
              if (++problems == mostProblems) stop.request_stop();
            },
            stop.get_token());
  } catch (const Failure&) {
    return false;
  }
  return isFound;
}

}  // namespace

bool isLog(const QString& path) {
  constexpr int kMostProblems = 8;
  return hasRequest(path, kMostProblems);
}

bool beginsAsLog(const QString& path) {
  return hasRequest(path, 1);
}

LogDiagnosis::LogDiagnosis(QObject* parent) : QObject(parent) {}

LogDiagnosis::~LogDiagnosis() {
  if (m_reading == nullptr) return;
  m_reading->stop.request_stop();
  m_reading->compareStop.request_stop();
  m_reading->sampleStop.request_stop();
}

void LogDiagnosis::update(LogState state) {
  m_state = std::make_shared<const LogState>(std::move(state));
  Q_EMIT changed();
}

void LogDiagnosis::open(const QStringList& files) {
  LogState state;
  state.files = files;
  state.settings = m_state->settings;
  update(std::move(state));
  start();
}

void LogDiagnosis::setSettings(const LogSettings& settings) {
  if (settings == m_state->settings) return;
  const bool isSame =
      settings.server == m_state->settings.server && settings.model == m_state->settings.model;
  LogState state = *m_state;
  state.settings = settings;
  update(std::move(state));
  if (!isSame && !m_state->files.isEmpty()) start();
}

void LogDiagnosis::stop() {
  if (m_reading != nullptr) m_reading->stop.request_stop();
}

void LogDiagnosis::start() {
  if (m_reading != nullptr) {
    m_reading->stop.request_stop();
    m_reading->compareStop.request_stop();
    m_reading->sampleStop.request_stop();
  }
  m_quality = nullptr;
  const auto reading = std::make_shared<Reading>(m_state->files, m_state->settings);
  m_reading = reading;
  LogState state;
  state.stage = LogState::Stage::Reading;
  state.files = m_state->files;
  state.settings = m_state->settings;
  state.report = reading->report;
  update(std::move(state));

  // Changes the state on the thread of the window, unless another log was opened.
  const auto tell = [this, reading](auto change) {
    QMetaObject::invokeMethod(
        this,
        [this, reading, change = std::move(change)]() mutable {
          if (m_reading != reading) return;
          LogState next = *m_state;
          change(next);
          update(std::move(next));
        },
        Qt::QueuedConnection);
  };
  m_diagnosing.post([reading, tell] {
    const auto end = [&](LogState::Stage stage, const QString& problem) {
      tell([stage, problem](LogState& next) {
        next.stage = stage;
        next.problem = problem;
      });
    };
    std::shared_ptr<doctor::PromptTokenizer> tokenizer;
    try {
      tokenizer = tokenizerOf(reading->settings, reading->log, reading->stop.get_token());
      tell([reading, tokenizer](LogState&) { reading->tokenizer = tokenizer; });
      std::size_t passed = 0;
      // The first rows are shown at once.
      Clock::time_point last;
      const auto progress = [&](const doctor::LogReport& soFar, doctor::DoctorPhase phase,
                                std::size_t requests) {
        const Clock::time_point now = Clock::now();
        if (now - last < kRowPause) return;
        last = now;
        double share = 0;
        if (phase == doctor::DoctorPhase::Log) {
          const doctor::LogPlace& place = soFar.requests.back().place;
          share = (reading->before[place.file] + static_cast<double>(place.begin + place.bytes)) /
                  static_cast<double>(std::max<std::uint64_t>(1, reading->bytes));
        } else if (!soFar.requests.empty()) {
          share = static_cast<double>(requests) / static_cast<double>(soFar.requests.size());
        }
        std::vector<doctor::RequestReport> rows(soFar.requests.begin() + static_cast<std::ptrdiff_t>(passed),
                                                soFar.requests.end());
        passed = soFar.requests.size();
        tell([reading, rows = std::move(rows), server = soFar.server, block = soFar.block,
              tokens = soFar.tokens, files = soFar.files, isEstimated = soFar.isEstimated,
              problems = soFar.problemCount, stage = stageOf(phase),
              done = progressOf(phase, std::min(share, 1.0))](LogState& next) mutable {
          doctor::LogReport& report = *reading->report;
          report.server = server;
          report.block = block;
          report.tokens = tokens;
          report.files = files;
          report.isEstimated = isEstimated;
          report.problemCount = problems;
          for (doctor::RequestReport& row : rows) {
            report.prompt += row.prompt;
            report.cached += row.cached;
            report.conversations = std::max<std::size_t>(report.conversations, row.conversation + 1);
            report.requests.push_back(std::move(row));
          }
          next.stage = stage;
          next.progress = done;
        });
      };
      doctor::DoctorOptions options;
      options.server = reading->settings.server.toStdString();
      auto report = std::make_shared<doctor::LogReport>(
          doctor::diagnose(reading->log, *tokenizer, options, reading->stop.get_token(), progress));
      const bool isStopped = report->isStopped;
      const bool isEmpty = report->requests.empty();
      tell([reading, report, isStopped, isEmpty](LogState& next) {
        reading->report = report;
        next.report = report;
        next.progress = 1;
        next.stage = isStopped ? LogState::Stage::Stopped
                     : isEmpty ? LogState::Stage::Failed
                               : LogState::Stage::Finished;
        if (isEmpty && !isStopped)
          next.problem = tr("The log has no request to a model. Open a log with requests and responses.");
      });
    } catch (const Failure& failure) {
      end(reading->stop.stop_requested() ? LogState::Stage::Stopped : LogState::Stage::Failed,
          QString::fromUtf8(failure.what()));
    }
  });
}

void LogDiagnosis::choose(std::size_t request) {
  if (m_reading == nullptr || request >= m_state->report->requests.size()) return;
  LogState state = *m_state;
  const doctor::RequestReport& report = state.report->requests[request];
  const bool hasSame = state.chosen == request && (state.comparison != nullptr || !state.other);
  if (hasSame) return;
  state.chosen = request;
  // The cause is about `compared`, which can have a shorter common prefix than `best`.
  const bool hasDifference =
      !report.findings.empty() && doctor::causeOf(report.findings.front().finding.cause).matches != nullptr;
  state.other = report.compared && (hasDifference || !report.best) ? report.compared : report.best;
  state.comparison = nullptr;
  state.comparisonProblem = QString::fromStdString(report.failure);
  const auto reading = m_reading;
  reading->compareStop.request_stop();
  reading->compareStop = std::stop_source();
  const bool compares = state.other && report.failure.empty() && reading->tokenizer != nullptr;
  const doctor::LogPlace now = report.place;
  const doctor::LogPlace before = compares ? state.report->requests[*state.other].place : doctor::LogPlace();
  update(std::move(state));
  if (!compares) return;
  m_comparing.post([this, reading, request, before, now, tokenizer = reading->tokenizer,
                    stop = reading->compareStop.get_token()] {
    std::shared_ptr<const doctor::PromptComparison> made;
    QString problem;
    try {
      if (stop.stop_requested()) return;
      made = std::make_shared<const doctor::PromptComparison>(
          doctor::comparePrompts(reading->log.again(before), reading->log.again(now), *tokenizer,
                                 doctor::DoctorOptions().repeatTokens, stop));
    } catch (const Failure& failure) {
      problem = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, reading, request, made, problem] {
          if (m_reading != reading || m_state->chosen != request) return;
          LogState next = *m_state;
          next.comparison = made;
          next.comparisonProblem = problem;
          update(std::move(next));
        },
        Qt::QueuedConnection);
  });
}

void LogDiagnosis::sample(std::size_t most) {
  if (m_reading == nullptr || !m_state->isComplete() || m_state->isSampling) return;
  const auto reading = m_reading;
  reading->sampleStop = std::stop_source();
  LogState state = *m_state;
  state.isSampling = true;
  update(std::move(state));
  m_diagnosing.post([this, reading, most, stop = reading->sampleStop.get_token()] {
    std::optional<jobs::LogQualityRequest> request;
    QString problem;
    try {
      const doctor::LogReport& report = *reading->report;
      request = jobs::logQualityRequest(report, doctor::qualitySample(reading->log, report, most, stop));
    } catch (const Failure& failure) {
      problem = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, reading, stop, request = std::move(request), problem] {
          if (m_reading != reading) return;
          LogState next = *m_state;
          next.isSampling = false;
          update(std::move(next));
          if (stop.stop_requested()) return;
          if (request)
            Q_EMIT sampled(*request);
          else
            Q_EMIT samplingFailed(problem);
        },
        Qt::QueuedConnection);
  });
}

void LogDiagnosis::stopSampling() {
  if (m_reading != nullptr) m_reading->sampleStop.request_stop();
}

void LogDiagnosis::takeQuality(const std::shared_ptr<const jobs::LogQuality>& quality) {
  if (quality == nullptr || quality == m_quality || m_reading == nullptr || !m_state->isComplete()) return;
  m_quality = quality;
  quality->apply(*m_reading->report);
  m_state = std::make_shared<const LogState>(*m_state);
}

doctor::LoggedRequest LogDiagnosis::requestAt(std::size_t request) const {
  if (m_reading == nullptr || request >= m_state->report->requests.size())
    throw Failure({"log",
                   {},
                   "The log has no request " + std::to_string(request + 1) + ".",
                   "Choose another request."});
  return m_reading->log.again(m_state->report->requests[request].place);
}

}  // namespace spanscope::ui
