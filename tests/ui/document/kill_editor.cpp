// SPDX-License-Identifier: GPL-3.0-or-later
// Edits a document and saves it now and then, until it is killed. Each state has a number, which the document
// holds; the log names what was done, each line before the program goes on:
//
//     edit NUMBER MILLISECONDS        the document became this state, at this time
//     save NUMBER HASH                it is about to be saved; hash of the file's bytes
//
// Asked to end, it keeps what is unsaved, as the window does.
#include "tests/engine/workbench/document/random_document.h"
#include "ui/document/autosave.h"
#include "ui/document/document_file.h"
#include "ui/document/ending_signals.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QFile>
#include <QTimer>

using namespace spanscope::document;
using namespace spanscope::ui;

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  const QStringList arguments = QCoreApplication::arguments();
  if (arguments.size() != 6) return 2;
  const QString& path = arguments[1];
  QFile log(arguments[3]);
  if (!log.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered)) return 2;
  std::mt19937 random(arguments[5].toUInt());

  DocumentModel model;
  model.setFilePath(path);
  Autosave autosave(model, arguments[2]);
  autosave.setInterval(std::chrono::milliseconds(arguments[4].toInt()));

  int state = 0;
  QTimer timer;
  EndingSignals signals;
  QObject::connect(&signals, &EndingSignals::received, &app, [&](int signal) {
    // What would be typed now is typed after the end.
    timer.stop();
    if (model.isModified()) autosave.keep();
    QCoreApplication::exit(128 + signal);
  });
  QObject::connect(&timer, &QTimer::timeout, &app, [&] {
    ++state;
    model.change(QStringLiteral("Edit"), [&](Document& document) {
      testing::randomEdit(document, random);
      document.parameters["state"] = std::to_string(state);
    });
    log.write(QByteArrayLiteral("edit ") + QByteArray::number(state) + ' ' +
              QByteArray::number(QDateTime::currentMSecsSinceEpoch()) + '\n');
    if (random() % 20 != 0) return;
    const std::string text = writeDocument(model.document());
    const QByteArray bytes = QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size()));
    const QByteArray hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex();
    log.write(QByteArrayLiteral("save ") + QByteArray::number(state) + ' ' + hash + '\n');
    if (!saveDocument(path, model.document())) model.markSaved();
  });
  timer.start(3);
  return QCoreApplication::exec();
}
