// SPDX-License-Identifier: GPL-3.0-or-later
// Diagnoses logs for the window on a thread of its own (engine/doctor). Views get the state of the diagnosis
// with their input. Open this file to give views another fact about a log.
#pragma once

#include "engine/doctor/comparison.h"
#include "engine/doctor/doctor.h"
#include "engine/doctor/report.h"
#include "engine/jobs/log_quality.h"
#include "ui/session/task_thread.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

namespace spanscope::ui {

/// The rules and prices of a diagnosis.
struct LogSettings {
  /// The value of `model` for the model of this machine that the log names.
  static constexpr const char* kModelOfLog = "auto";

  /// A name of simulator::servers(). Empty: the server of the log, or else vLLM.
  QString server;
  /// Folder or file of the tokenizer, or kModelOfLog. Empty: estimated by characters.
  QString model = QString::fromLatin1(kModelOfLog);
  doctor::Prices prices;
  bool operator==(const LogSettings& other) const {
    return server == other.server && model == other.model &&
           prices.tokensPerSecond == other.prices.tokensPerSecond &&
           prices.perMillion == other.prices.perMillion;
  }

  /// "server=vllm;model=auto", with the fields in their order, for commands and settings of the window.
  QString text() const;
  /// Reads a text of this form. Missing and wrong values keep their defaults.
  static LogSettings of(const QString& text);
};

/// The state of the diagnosis for views. Views must not change the report.
struct LogState {
  enum class Stage { None, Reading, Edits, Documents, Finished, Stopped, Failed };
  Stage stage = Stage::None;
  QStringList files;
  LogSettings settings;
  QString problem;      ///< why the diagnosis failed; empty: no failure
  double progress = 0;  ///< 0 … 1, of all stages
  /// The report so far; never null. Totals, causes and ways are known at the end. All views of a diagnosis
  /// get the same report, which grows.
  std::shared_ptr<const doctor::LogReport> report = std::make_shared<const doctor::LogReport>();
  std::optional<std::size_t> chosen;  ///< the request that the user chose
  std::optional<std::size_t> other;   ///< the earlier request to which `chosen` is compared
  std::shared_ptr<const doctor::PromptComparison> comparison;  ///< null: none, or not computed yet
  QString comparisonProblem;  ///< why the requests cannot be compared; empty: no problem
  bool isSampling = false;    ///< the requests for a measurement of quality are being chosen

  bool isRunning() const {
    return stage == Stage::Reading || stage == Stage::Edits || stage == Stage::Documents;
  }
  /// Whether causes, ways and lost tokens are complete.
  bool isComplete() const { return stage == Stage::Finished; }
};

/// Finds the state among the measured jobs of a view's input.
struct LogDiagnosisKind {
  static constexpr const char* kId = "log-diagnosis";
  using Result = LogState;
};

/// Whether a file is a log of requests: one of its first records is a request to a model. Reads at most a few
/// megabytes.
bool isLog(const QString& path);
/// Whether the first record of a file is a request to a model. Use this function for names that logs rarely
/// have: a text can contain a request after other lines.
bool beginsAsLog(const QString& path);

class LogDiagnosis : public QObject {
  Q_OBJECT
 public:
  explicit LogDiagnosis(QObject* parent = nullptr);
  ~LogDiagnosis() override;

  const std::shared_ptr<const LogState>& state() const { return m_state; }

  /// Diagnoses these files as one log. Stops the diagnosis of the last log.
  void open(const QStringList& files);
  /// Diagnoses the same files again if the settings differ in more than prices.
  void setSettings(const LogSettings& settings);
  /// Keeps the rows that were read.
  void stop();
  /// Chooses a request, and compares it with its best earlier request.
  void choose(std::size_t request);
  /// Chooses at most `most` requests for each way to send the log. Unless the sampling was stopped, sampled()
  /// or samplingFailed() reports the result.
  void sample(std::size_t most);
  void stopSampling();
  /// Adds measured qualities to the report, if they are about this log. Views show the qualities with their
  /// next input. nullptr: nothing was measured.
  void takeQuality(const std::shared_ptr<const jobs::LogQuality>& quality);
  /// Reads a request again. Throws Failure if its file has changed, and if there is no such request.
  doctor::LoggedRequest requestAt(std::size_t request) const;

 Q_SIGNALS:
  void changed();
  void sampled(const spanscope::jobs::LogQualityRequest& request);
  void samplingFailed(const QString& problem);

 private:
  struct Reading;
  void start();
  void update(LogState state);

  std::shared_ptr<const LogState> m_state = std::make_shared<const LogState>();
  std::shared_ptr<Reading> m_reading;                 ///< null: no log
  std::shared_ptr<const jobs::LogQuality> m_quality;  ///< the newest; null: none
  TaskThread m_diagnosing;
  TaskThread m_comparing;
};

}  // namespace spanscope::ui
