// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/autosave.h"

#include "engine/base/output_file.h"
#include "ui/document/unread_text.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLockFile>
#include <QStandardPaths>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr qint64 kMostSideFile = qint64{256} << 20U;  ///< bytes; a file has a document and typed text
constexpr auto kSuffix = ".span-autosave";

QString lockPath(const QString& sideFile) {
  return sideFile + QLatin1String(".lock");
}

QString baseName(const QString& path) {
  if (path.isEmpty()) return QUuid::createUuid().toString(QUuid::WithoutBraces);
  const QByteArray hash = QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha256);
  return QString::fromLatin1(hash.toHex().left(32));
}

std::optional<Error> writeSideFile(const QString& path, const QByteArray& header,
                                   const document::Document& document) {
  return writeFile(path.toStdString(), header.toStdString() + document::writeDocument(document));
}

std::optional<Recovery> readSideFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMostSideFile) return std::nullopt;
  const QJsonObject header = QJsonDocument::fromJson(file.readLine()).object();
  if (header.value(QLatin1String("autosave")).toInt() != 1) return std::nullopt;
  constexpr auto kMostBytes = qint64{64} << 20;
  const QByteArray text = file.read(kMostBytes + 1);
  document::OpenedDocument opened =
      document::readDocument({text.constData(), static_cast<std::size_t>(text.size())});
  if (!opened.document) return std::nullopt;

  Recovery recovery{
      .sideFile = path,
      .filePath = header.value(QLatin1String("path")).toString(),
      .title = header.value(QLatin1String("title")).toString(),
      .time = QDateTime::fromString(header.value(QLatin1String("time")).toString(), Qt::ISODateWithMs),
      .document = std::move(*opened.document)};
  if (const QJsonValue typed = header.value(QLatin1String("typed")); typed.isString())
    recovery.typed = typed.toString();
  if (!recovery.typed && !recovery.filePath.isEmpty() && QFileInfo::exists(recovery.filePath)) {
    const document::OpenedDocument saved = openDocument(recovery.filePath);
    // Compares texts, because both documents number their nodes on their own.
    if (saved.document &&
        document::writeDocument(*saved.document) == document::writeDocument(recovery.document))
      return std::nullopt;
  }
  return recovery;
}

}  // namespace

std::unique_ptr<QLockFile> lockSideFile(const QString& sideFile) {
  auto lock = std::make_unique<QLockFile>(lockPath(sideFile));
  // Zero: a lock of any age is valid until the program that made it has ended.
  lock->setStaleLockTime(0);
  if (!lock->tryLock(0)) return nullptr;
  return lock;
}

QString autosaveDirectory() {
  return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + QLatin1String("/autosave");
}

Autosave::Autosave(DocumentModel& model, QString directory, QObject* parent)
    : QObject(parent), m_model(model), m_directory(std::move(directory)) {
  m_writer.setMaxThreadCount(1);
  m_timer.setSingleShot(true);
  m_timer.setTimerType(Qt::PreciseTimer);
  connect(&m_timer, &QTimer::timeout, this, &Autosave::write);
  connect(&m_model, &DocumentModel::changed, this, [this] {
    m_isDirty = true;
    schedule();
  });
  connect(&m_model, &DocumentModel::stateChanged, this, &Autosave::followState);
  connect(&UnreadText::of(m_model), &UnreadText::changed, this, [this] {
    m_isDirty = true;
    schedule();
  });
}

Autosave::~Autosave() {
  stopWatching();
  discard();
}

void Autosave::stopWatching() {
  m_model.disconnect(this);
  UnreadText::of(m_model).disconnect(this);
}

void Autosave::setInterval(std::chrono::milliseconds interval) {
  m_interval = interval;
  if (!m_timer.isActive()) return;
  m_timer.stop();
  schedule();
}

void Autosave::schedule() {
  if (!m_isDirty || m_isWriting || m_timer.isActive()) return;
  const std::chrono::milliseconds passed(m_sinceWriting.isValid() ? m_sinceWriting.elapsed() : 0);
  constexpr std::chrono::milliseconds kMost(5000);
  const std::chrono::milliseconds interval = std::max(m_interval, std::min(10 * m_writingTook, kMost));
  m_timer.start(std::max(std::chrono::milliseconds(0), interval - passed));
}

bool Autosave::beginWriting() {
  // The undo stack reports "clean" after its other signals. Then nothing is unsaved.
  if (!m_model.isModified()) return false;
  m_sinceWriting.start();
  if (takeSideFile()) return true;
  Q_EMIT failed({m_directory.toStdString(),
                 {},
                 "Spanscope cannot write unsaved work to this folder.",
                 "Check the permissions of the folder."});
  return false;
}

void Autosave::write() {
  if (!beginWriting()) return;
  m_isDirty = false;
  m_isWriting = true;
  // The snapshot never changes, so the thread can write it without a lock.
  m_writer.start([this, path = m_sideFile, line = header(), document = m_model.snapshot()] {
    const std::optional<Error> error = writeSideFile(path, line, *document);
    QMetaObject::invokeMethod(
        this, [this, error, path] { finishWriting(error, path); }, Qt::QueuedConnection);
  });
}

void Autosave::writeNow() {
  m_timer.stop();
  m_writer.waitForDone();
  // Ignores the pending result of an older write.
  m_isWriting = false;
  if (!beginWriting()) return;
  const std::optional<Error> error = writeSideFile(m_sideFile, header(), m_model.document());
  m_isDirty = error.has_value();
  if (error)
    Q_EMIT failed(*error);
  else
    Q_EMIT written();
}

QByteArray Autosave::header() const {
  QJsonObject header;
  header[QLatin1String("autosave")] = 1;
  header[QLatin1String("path")] = m_model.filePath();
  header[QLatin1String("title")] = m_model.title();
  header[QLatin1String("time")] = QDateTime::currentDateTimeUtc().toString(Qt::ISODateWithMs);
  if (const std::optional<QString>& typed = UnreadText::of(m_model).typed())
    header[QLatin1String("typed")] = *typed;
  return QJsonDocument(header).toJson(QJsonDocument::Compact) + '\n';
}

void Autosave::finishWriting(const std::optional<Error>& error, const QString& path) {
  // The side file was discarded during the write.
  if (!m_isWriting || path != m_sideFile) return;
  m_isWriting = false;
  m_writingTook = std::chrono::milliseconds(m_sinceWriting.elapsed());
  if (error) {
    m_isDirty = true;
    Q_EMIT failed(*error);
    return;
  }
  Q_EMIT written();
  schedule();
}

void Autosave::followState() {
  if (!m_model.isModified()) {
    discard();
    return;
  }
  // A document can be unsaved without a change: another program has changed its file.
  if (!m_sideFile.isEmpty() && m_model.filePath() == m_sideFilePath) return;
  // The document has a new path, so it needs another side file.
  if (!m_sideFile.isEmpty()) discard();
  m_isDirty = true;
  schedule();
}

void Autosave::discard() {
  m_timer.stop();
  m_writer.waitForDone();
  m_isWriting = false;
  m_isDirty = false;
  if (!m_sideFile.isEmpty()) QFile::remove(m_sideFile);
  m_sideFile.clear();
  m_lock.reset();
}

QString Autosave::keep() {
  m_timer.stop();
  m_writer.waitForDone();
  m_isWriting = false;
  stopWatching();
  const bool isKept = takeSideFile() && !writeSideFile(m_sideFile, header(), m_model.document());
  // If the write failed, an older state stays in the side file.
  QString kept = std::exchange(m_sideFile, QString());
  m_lock.reset();
  return isKept ? kept : QString();
}

bool Autosave::takeSideFile() {
  if (!m_sideFile.isEmpty()) return true;
  if (!QDir().mkpath(m_directory)) return false;
  m_sideFilePath = m_model.filePath();
  const QString base = m_directory + QLatin1Char('/') + baseName(m_sideFilePath);
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    const QString name =
        (i == 0 ? base : base + QLatin1Char('-') + QString::number(i)) + QLatin1String(kSuffix);
    // An existing side file belongs to a crashed program, or to a program that edits the same file.
    if (QFileInfo::exists(name)) continue;
    m_lock = lockSideFile(name);
    if (m_lock == nullptr) continue;
    m_sideFile = name;
    return true;
  }
  return false;
}

std::optional<Recovery> findRecovery(const QString& sideFile) {
  if (!QFileInfo::exists(sideFile)) return std::nullopt;
  const std::unique_ptr<QLockFile> lock = lockSideFile(sideFile);
  return lock == nullptr ? std::nullopt : readSideFile(sideFile);
}

std::vector<Recovery> findRecoveries(const QString& directory) {
  std::vector<Recovery> recoveries;
  const QStringList names =
      QDir(directory).entryList({QLatin1Char('*') + QLatin1String(kSuffix)}, QDir::Files);
  for (const QString& name : names) {
    const QString path = directory + QLatin1Char('/') + name;
    if (std::optional<Recovery> recovery = findRecovery(path)) recoveries.push_back(std::move(*recovery));
  }
  std::stable_sort(recoveries.begin(), recoveries.end(),
                   [](const Recovery& a, const Recovery& b) { return a.time > b.time; });
  return recoveries;
}

void removeRecovery(const Recovery& recovery) {
  QFile::remove(recovery.sideFile);
}

}  // namespace spanscope::ui
