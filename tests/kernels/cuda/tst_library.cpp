// SPDX-License-Identifier: GPL-3.0-or-later
// The library that programs open for cards, replaced by the emulated one: what the registry has of the kind
// is what the library states of it, whole.
#include "engine/base/error.h"
#include "kernels/backends.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr const char* kLibrary = SPANSCOPE_EMULATED_LIBRARY;

/// The kind as the registry of the programs has it.
compute::BackendKind registeredKind(const std::filesystem::path& library) {
  return programBackends(library).choose("cuda").kind;
}

std::string reasonWith(const std::filesystem::path& library) {
  for (const compute::Device& device : programBackends(library).devices()) {
    if (device.name.rfind("cuda", 0) == 0) return device.reason;
  }
  return "no such device";
}

}  // namespace

class TestCudaLibrary : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A field that is added to the kind has to be added here: the names below are all of them.
  void theRegistryHasTheWholeKind() {
    const compute::BackendKind stated = cuda::cudaBackendKind();
    const auto& [name, probe, make, meter, memory, rowsPerPass, freeBytes, keysAndValues] = stated;
    const compute::BackendKind kind = registeredKind(kLibrary);
    QCOMPARE(kind.name, name);

    const std::vector<compute::Device> devices = kind.probe();
    const std::vector<compute::Device> expected = probe();
    QCOMPARE(devices.size(), expected.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const auto& [deviceName, description, memoryBytes, reason] = expected[i];
      QCOMPARE(devices[i].name, deviceName);
      QCOMPARE(devices[i].description, description);
      QCOMPARE(devices[i].memoryBytes, memoryBytes);
      QCOMPARE(devices[i].reason, reason);
    }

    for (const bool exact : {false, true}) {
      const compute::DeviceInfo info = kind.make({.exact = exact})->info();
      const compute::DeviceInfo own = make({.exact = exact})->info();
      QCOMPARE(info.name, own.name);
      QCOMPARE(info.numericRevision, own.numericRevision);
      QCOMPARE(info.rowsAreBitEqual, own.rowsAreBitEqual);
    }
    QVERIFY(meter({}) && kind.meter({}));

    const compute::MemoryRules rules = kind.memory();
    const auto& [ofStore, ofMatrix, ofActivation, ofPasses] = memory();
    const compute::KvShape shape{.layers = 3, .blocks = 7, .heads = 2, .headSize = 40};
    QCOMPARE(rules.ofStore(shape), ofStore(shape));
    QVERIFY(rules.ofStore(shape) != compute::MemoryRules().ofStore(shape));
    for (const compute::WeightFormatInfo& info : compute::weightFormats())
      QCOMPARE(rules.ofMatrix(info.format, 512), ofMatrix(info.format, 512));
    QCOMPARE(rules.ofActivation, ofActivation);
    QCOMPARE(rules.ofPasses, ofPasses);

    QCOMPARE(kind.rowsPerPass, rowsPerPass);
    QVERIFY(kind.rowsPerPass > 0);
    QVERIFY(kind.freeBytes != nullptr);
    QCOMPARE(kind.freeBytes(0), freeBytes(0));
    QCOMPARE(kind.keysAndValues, keysAndValues);
    QVERIFY(kind.keysAndValues != compute::BackendKind().keysAndValues);
  }

  /// What a program asks of the processor alone opens nothing.
  void theProcessorDoesWithoutIt() {
    QCOMPARE(programBackends("/no/such/file").choose().device.name, std::string("cpu"));
    QCOMPARE(programBackends("/no/such/file").entries().back().name(), std::string("cuda"));
  }

  void saysWhatIsWrongWithTheFile() {
    QVERIFY(reasonWith(kLibrary).empty());
    const std::string missing = reasonWith("/no/such/file");
    QVERIFY2(missing.find("/no/such/file") != std::string::npos, missing.c_str());
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("libspanscope_cuda.so")));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no library") > 0);
    file.close();
    QVERIFY(!reasonWith(file.fileName().toStdString()).empty());
    QVERIFY_EXCEPTION_THROWN(programBackends("/no/such/file").choose("cuda"), Failure);
  }
};

SPANSCOPE_TEST(tst_library, TestCudaLibrary)
#include "tst_library.moc"
