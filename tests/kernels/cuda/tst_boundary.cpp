// SPDX-License-Identifier: GPL-3.0-or-later
// Only device.h and runtime.h separate kernels and the machine: every other file of kernels/cuda compiles
// without a toolkit.
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTest>

namespace {

QString readFile(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QStringList sourcesOf(const QString& folder) {
  QStringList paths;
  for (QDirIterator it(folder, {"*.h", "*.cpp", "*.cu"}, QDir::Files, QDirIterator::Subdirectories);
       it.hasNext();)
    paths.append(it.next());
  return paths;
}

}  // namespace

class TestCudaBoundary : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void onlyTwoFilesKnowCuda() {
    const QRegularExpression machine(
        R"(\basm\b|#include <cu|\b(threadIdx|blockIdx|blockDim|gridDim)\b|\b__(sync|shfl|shared__|ballot)|<<<)");
    const QStringList paths = sourcesOf(SPANSCOPE_SOURCE_DIR "/kernels/cuda");
    QVERIFY(paths.size() > 20);
    for (const QString& path : paths) {
      const QString name = QFileInfo(path).fileName();
      const bool knows = name == "device_cuda.h" || name == "runtime_cuda.cpp";
      const QRegularExpressionMatch match = machine.match(readFile(path));
      QVERIFY2(match.hasMatch() == knows, qPrintable(path + ": " + match.captured()));
    }
  }

  void kernelsAndHostsIncludeNoImplementation() {
    const QRegularExpression implementation("#include .*(device_cuda|device_emulation|cuda_emulation)");
    for (const QString& path : sourcesOf(SPANSCOPE_SOURCE_DIR "/kernels/cuda")) {
      if (QFileInfo(path).fileName() == "device.h") continue;
      QVERIFY2(!readFile(path).contains(implementation), qPrintable(path));
    }
  }

  void everyKernelIsCompiled() {
    const QString list = readFile(SPANSCOPE_SOURCE_DIR "/kernels/cuda/CMakeLists.txt");
    const QString folder = SPANSCOPE_SOURCE_DIR "/kernels/cuda/";
    for (const QString& path : sourcesOf(folder)) {
      if (path.endsWith(".cu")) QVERIFY2(list.contains(path.mid(folder.size())), qPrintable(path));
    }
  }
};

SPANSCOPE_TEST(tst_boundary, TestCudaBoundary)
#include "tst_boundary.moc"
