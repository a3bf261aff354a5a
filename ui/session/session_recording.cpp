// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/session_recording.h"

#include "engine/base/error.h"
#include "engine/trace/trace_file.h"
#include "ui/document/autosave.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QUuid>

#include <algorithm>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr const char* kSuffix = ".trace-recording";
constexpr qint64 kMostBytes = 1 << 20;  // max size of a side file
constexpr QLatin1String kPath("path");
constexpr QLatin1String kPart("part");

trace::TraceHeader header() {
  return {.program = "spanscope " + QCoreApplication::applicationVersion().toStdString(),
          .createdAt = QDateTime::currentMSecsSinceEpoch()};
}

/// The first of "a.trace", "a-2.trace", "a-3.trace", … from `number` on that no file has.
std::filesystem::path freePath(const std::filesystem::path& path, std::size_t number) {
  for (;; ++number) {
    std::filesystem::path next = path;
    if (number > 1)
      next.replace_filename(path.stem().string() + "-" + std::to_string(number) + path.extension().string());
    std::error_code error;
    if (std::filesystem::symlink_status(next, error).type() == std::filesystem::file_type::not_found)
      return next;
  }
}

}  // namespace

SessionRecording::~SessionRecording() {
  finish();
}

QString SessionRecording::start(const QString& path, const QString& sideDirectory,
                                const std::shared_ptr<trace::Recorder>& session) {
  finish();
  const std::lock_guard lock(m_mutex);
  m_sideDirectory = sideDirectory;
  m_sessions = 0;
  if (QString problem = open(path.toStdString()); !problem.isEmpty()) return problem;
  try {
    if (session != nullptr) give(m_files.back(), session);
  } catch (const Failure& failure) {
    close(m_files.back());
    m_files.clear();
    return QString::fromUtf8(failure.what());
  }
  m_path = path;
  return {};
}

/// Opens a file that waits for its session.
QString SessionRecording::open(const std::filesystem::path& path) {
  File file;
  OutputRules rules;
  rules.keepsBroken = true;
  rules.replacesNewer = false;
  // A pipe without a reader would block the engine.
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return QString::fromStdString(Error{
        .file = path.string(), .place = {}, .found = "a folder, a pipe or a device", .expected = "a file"}
                                      .message());
  }
  try {
    file.waiting.emplace(path, rules);
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  file.place.path = QString::fromStdString(std::filesystem::absolute(path).string());
  file.place.part = QString::fromStdString(std::filesystem::absolute(file.waiting->partPath()).string());
  // The recording also works without a side file. Then it cannot be offered after a crash.
  if (QDir().mkpath(m_sideDirectory)) {
    const QString name = m_sideDirectory + QLatin1Char('/') +
                         QUuid::createUuid().toString(QUuid::WithoutBraces) + QLatin1String(kSuffix);
    file.lock = lockSideFile(name);
    const QJsonObject object{{kPath, file.place.path}, {kPart, file.place.part}};
    const QByteArray text = QJsonDocument(object).toJson(QJsonDocument::Compact);
    if (file.lock != nullptr &&
        !writeFile(name.toStdString(), {text.constData(), static_cast<std::size_t>(text.size())}))
      file.place.sideFile = name;
  }
  m_files.push_back(std::move(file));
  return {};
}

void SessionRecording::give(File& file, const std::shared_ptr<trace::Recorder>& session) {
  OutputFile output = std::move(*file.waiting);
  file.waiting.reset();
  session->startFile(std::move(output), header());
  file.session = session;
  ++m_sessions;
}

void SessionRecording::add(const std::shared_ptr<trace::Recorder>& session) {
  const std::lock_guard lock(m_mutex);
  if (m_path.isEmpty() || session == nullptr) return;
  const bool isWaiting = !m_files.empty() && m_files.back().waiting.has_value();
  if (!isWaiting) {
    const QString problem = open(freePath(m_path.toStdString(), m_sessions + 1));
    if (!problem.isEmpty()) return note(problem);
  }
  try {
    give(m_files.back(), session);
  } catch (const Failure& failure) {
    close(m_files.back());
    m_files.pop_back();
    note(QString::fromUtf8(failure.what()));
  }
}

void SessionRecording::end(const std::shared_ptr<trace::Recorder>& session) {
  const std::lock_guard lock(m_mutex);
  const auto ended = std::find_if(m_files.begin(), m_files.end(),
                                  [&session](const File& file) { return file.session == session; });
  if (session == nullptr || ended == m_files.end()) return;
  close(*ended);
  m_files.erase(ended);
}

QString SessionRecording::finish() {
  const std::lock_guard lock(m_mutex);
  for (File& file : m_files) close(file);
  m_files.clear();
  m_path.clear();
  return std::exchange(m_problem, {});
}

void SessionRecording::close(File& file) {
  if (file.session != nullptr) {
    if (const std::optional<Error> error = file.session->finishFile()) {
      const QString problem = QString::fromStdString(error->message());
      const QString kept = keepCutRecording(file.place);
      // The folder may have been moved.
      const QString place =
          kept.isEmpty() ? QFileInfo(file.place.part).fileName() : QDir::toNativeSeparators(kept);
      note(QCoreApplication::translate("SessionRecording", "%1. The earlier recording is in %2")
               .arg(problem, place));
    }
  }
  if (!file.place.sideFile.isEmpty()) QFile::remove(file.place.sideFile);
}

void SessionRecording::note(const QString& problem) {
  if (m_problem.isEmpty()) m_problem = problem;
}

bool SessionRecording::flush() {
  const std::lock_guard lock(m_mutex);
  bool isWritten = true;
  for (const File& file : m_files) isWritten &= file.session == nullptr || !file.session->flushFile();
  return isWritten;
}

bool SessionRecording::isOn() const {
  const std::lock_guard lock(m_mutex);
  return !m_path.isEmpty();
}

QString SessionRecording::path() const {
  const std::lock_guard lock(m_mutex);
  return m_path;
}

QStringList SessionRecording::files() const {
  const std::lock_guard lock(m_mutex);
  QStringList paths;
  for (const File& file : m_files) paths += file.place.path;
  return paths;
}

std::size_t SessionRecording::sessions() const {
  const std::lock_guard lock(m_mutex);
  return m_sessions;
}

std::vector<CutRecording> findCutRecordings(const QString& sideDirectory) {
  std::vector<CutRecording> all;
  const QStringList names =
      QDir(sideDirectory).entryList({QLatin1Char('*') + QLatin1String(kSuffix)}, QDir::Files, QDir::Time);
  for (const QString& name : names) {
    const QString path = sideDirectory + QLatin1Char('/') + name;
    const std::unique_ptr<QLockFile> lock = lockSideFile(path);
    QFile file(path);
    if (lock == nullptr || !file.open(QIODevice::ReadOnly) || file.size() > kMostBytes) continue;
    const QJsonObject object = QJsonDocument::fromJson(file.readAll()).object();
    if (!object.value(kPath).isString() || !object.value(kPart).isString()) continue;
    all.push_back({object.value(kPath).toString(), object.value(kPart).toString(), path});
  }
  return all;
}

QString keepCutRecording(const CutRecording& cut) {
  const std::filesystem::path part = cut.part.toStdString();
  std::error_code error;
  std::filesystem::path kept;
  if (std::filesystem::is_regular_file(part, error) && part.extension() == ".part") {
    bool isEmpty = std::filesystem::file_size(part, error) == 0;
    try {
      isEmpty = isEmpty || trace::TraceReader(part).eventCount() == 0;
    } catch (const std::exception&) {
      isEmpty = false;  // an unreadable file is kept
    }
    if (isEmpty) {
      std::filesystem::remove(part, error);
    } else {
      kept = freePath(cut.path.toStdString(), 1);
      std::filesystem::rename(part, kept, error);
      if (error) return cut.part;
    }
  }
  if (!cut.sideFile.isEmpty()) QFile::remove(cut.sideFile);
  return QString::fromStdString(kept.string());
}

}  // namespace spanscope::ui
