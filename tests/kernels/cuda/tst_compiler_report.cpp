// SPDX-License-Identifier: GPL-3.0-or-later
// What nvcc says of every kernel: no spills, and as many blocks on a multiprocessor as its budget promises.
#include "kernels/cuda/kernel_budget.h"
#include "tests/kernels/cuda/kernel_budgets.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <cxxabi.h>

#include <algorithm>
#include <memory>
#include <set>

using namespace spanscope;
using cuda::KernelBudget;

namespace {

struct CompiledKernel {
  QString name;  ///< demangled
  int architecture = 0;
  int stackBytes = 0;
  int spilledBytes = 0;
  int registers = 0;
};

/// What a multiprocessor has.
struct Multiprocessor {
  int architecture;
  std::size_t sharedBytes;
};
constexpr Multiprocessor kMultiprocessors[] = {{80, 164U << 10U}, {90, 228U << 10U}};
constexpr int kRegisters = 65536;
constexpr int kThreads = 2048;
constexpr int kBlocks = 32;
/// Shared memory that every block takes beside its own, and the unit it is counted in.
constexpr std::size_t kReservedBytes = 1024;
constexpr std::size_t kSharedUnit = 128;
constexpr std::size_t kMostSharedBytes = 99U << 10U;  ///< of a block, on every card from 8.0 on
/// Registers are given to warps, in this unit.
constexpr int kRegisterUnit = 256;

int roundedUp(int value, int unit) {
  return (value + unit - 1) / unit * unit;
}

int blocksOf(const KernelBudget& budget, int registers, const Multiprocessor& multiprocessor) {
  const int warps = budget.threads / 32;
  const int byRegisters = kRegisters / (warps * roundedUp(32 * registers, kRegisterUnit));
  const std::size_t shared =
      (budget.sharedBytes + kReservedBytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  const int byShared = static_cast<int>(multiprocessor.sharedBytes / shared);
  return std::min({byRegisters, byShared, kThreads / budget.threads, kBlocks});
}

QString demangled(const QString& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.toUtf8().constData(), nullptr, nullptr, &status), std::free);
  return status == 0 ? QString::fromUtf8(name.get()) : symbol;
}

QList<CompiledKernel> readReports() {
  const QRegularExpression entry("Compiling entry function '(\\w+)' for 'sm_(\\d+)'");
  const QRegularExpression spills(
      "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  const QRegularExpression registers("Used (\\d+) registers");
  QList<CompiledKernel> kernels;
  for (const QString& path : QString(SPANSCOPE_CUDA_REPORTS).split('|')) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("no report %s", qPrintable(path));
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n')) {
      if (const auto match = entry.match(line); match.hasMatch()) {
        kernels.append({.name = demangled(match.captured(1)), .architecture = match.captured(2).toInt()});
      } else if (const auto spilled = spills.match(line); spilled.hasMatch() && !kernels.isEmpty()) {
        kernels.last().stackBytes = spilled.captured(1).toInt();
        kernels.last().spilledBytes = spilled.captured(2).toInt() + spilled.captured(3).toInt();
      } else if (const auto used = registers.match(line); used.hasMatch() && !kernels.isEmpty()) {
        kernels.last().registers = used.captured(1).toInt();
      }
    }
  }
  return kernels;
}

}  // namespace

class TestCudaCompilerReport : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyKernelKeepsItsBudget() {
    const QList<CompiledKernel> kernels = readReports();
    QVERIFY(!kernels.isEmpty());
    std::set<std::pair<std::string, int>> seen;
    for (const CompiledKernel& kernel : kernels) {
      const QByteArray name = kernel.name.toUtf8();
      const auto isOf = [&](const KernelBudget& budget) {
        return kernel.name.contains(QString("::%1(").arg(budget.kernel)) ||
               kernel.name.contains(QString("::%1<").arg(budget.kernel));
      };
      const std::vector<KernelBudget> budgets = testing::kernelBudgets();
      const auto budget = std::find_if(budgets.begin(), budgets.end(), isOf);
      QVERIFY2(budget != budgets.end(), (name + " has no budget").constData());
      seen.emplace(budget->kernel, kernel.architecture);
      QVERIFY2(kernel.spilledBytes == 0 && kernel.stackBytes == 0,
               (name + " keeps values in memory").constData());
      QVERIFY2(kernel.registers > 0, name.constData());
      QVERIFY2(budget->sharedBytes <= kMostSharedBytes, name.constData());
      const auto multiprocessor =
          std::find_if(std::begin(kMultiprocessors), std::end(kMultiprocessors),
                       [&](const Multiprocessor& each) { return each.architecture == kernel.architecture; });
      QVERIFY2(multiprocessor != std::end(kMultiprocessors), name.constData());
      const int blocks = blocksOf(*budget, kernel.registers, *multiprocessor);
      qInfo("sm_%d, %d of %d warps: %s", kernel.architecture, blocks * budget->threads / 32, kThreads / 32,
            budget->kernel);
      QVERIFY2(blocks >= budget->blocks,
               qPrintable(
                   QString("%1: %2 blocks instead of %3").arg(kernel.name).arg(blocks).arg(budget->blocks)));
    }
    for (const KernelBudget& budget : testing::kernelBudgets()) {
      for (const Multiprocessor& multiprocessor : kMultiprocessors) {
        QVERIFY2(seen.contains({budget.kernel, multiprocessor.architecture}), budget.kernel);
      }
    }
  }
};

SPANSCOPE_TEST(tst_compiler_report, TestCudaCompilerReport)
#include "tst_compiler_report.moc"
