// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_page_job.h"

#include <QFile>
#include <QFileInfo>
#include <QProcessEnvironment>
#include <QSaveFile>

#include <utility>

namespace spanscope::ui {

LessonPageJob::LessonPageJob(QString program, QString lesson, QString page, QObject* parent)
    : QObject(parent), m_program(std::move(program)), m_lesson(std::move(lesson)), m_page(std::move(page)) {
  connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      end(tr("%1 cannot be started: %2").arg(m_program, m_process.errorString()));
  });
  connect(&m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    if (status == QProcess::NormalExit && code == 0) return take();
    const QString said = QString::fromUtf8(m_process.readAllStandardError()).trimmed();
    end(said.isEmpty() ? tr("the process that was to write it ended without a word") : said);
  });
}

LessonPageJob::~LessonPageJob() {
  m_process.disconnect(this);
  if (m_process.state() == QProcess::NotRunning) return;
  m_process.kill();
  m_process.waitForFinished();
}

void LessonPageJob::start() {
  if (!m_folder.isValid()) return end(m_folder.errorString());
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
  m_process.setProcessEnvironment(environment);
  m_process.setStandardOutputFile(QProcess::nullDevice());
  m_process.start(m_program,
                  {QStringLiteral("--lesson-pages"), QStringLiteral("-o"), m_folder.path(), m_lesson});
}

void LessonPageJob::take() {
  QFile written(m_folder.filePath(QFileInfo(m_lesson).completeBaseName() + QStringLiteral(".html")));
  QSaveFile page(m_page);
  if (!written.open(QIODevice::ReadOnly)) return end(written.errorString());
  const QByteArray bytes = written.readAll();
  if (!page.open(QIODevice::WriteOnly) || page.write(bytes) != bytes.size() || !page.commit())
    return end(page.errorString());
  end({});
}

void LessonPageJob::end(const QString& problem) {
  if (std::exchange(m_hasEnded, true)) return;
  Q_EMIT finished(problem);
}

}  // namespace spanscope::ui
