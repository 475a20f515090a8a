# What a Python wheel has besides Python: the library and the command, inside the package.  bindings/python/pyproject.toml has
# it built and installed.  A wheel holds no links, so the library is one file, by the name that the package asks for.
set_target_properties(apsis PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS apsis LIBRARY DESTINATION apsis/lib NAMELINK_SKIP COMPONENT wheel)
add_custom_target(apsis-wheel DEPENDS apsis)
if(APSIS_TOOL)
  set_target_properties(apsis-tool PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS apsis-tool RUNTIME DESTINATION apsis/bin COMPONENT wheel)
  add_dependencies(apsis-wheel apsis-tool)
endif()
