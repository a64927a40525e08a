# CPack runs this before it makes Debian's packages of the folders that it has filled: what Debian
# asks of every package, and the places that Debian has for some files.
find_program(shlibdeps dpkg-shlibdeps)
if(NOT shlibdeps)
  # CPack only warns, and makes packages that depend on nothing.
  message(FATAL_ERROR "Debian's packages need dpkg-shlibdeps, which says what libraries they depend on: "
                      "apt-get install dpkg-dev")
endif()
file(GLOB folders ${CPACK_TEMPORARY_DIRECTORY}/*)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(folder ${folders})
  if(NOT IS_DIRECTORY ${folder}/usr)
    continue()
  endif()
  if(folder MATCHES "server_package$")
    set(package gridfold-server)
  elseif(folder MATCHES "client_package$")
    set(package gridfold)
  elseif(folder MATCHES "hdf5_package$")
    set(package gridfold-hdf5)
  elseif(folder MATCHES "core_package$")
    set(package libgridfold-core-dev)
  else()
    set(package libgridfold-dev)
  endif()
  set(doc ${folder}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(COPY_FILE ${CPACK_GRIDFOLD_FOLDER}/copyright ${doc}/copyright)
  file(WRITE ${doc}/changelog
       "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
       "  * CHANGELOG.md of the sources tells what is new.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB_RECURSE pages ${folder}/usr/share/man/*)
  execute_process(COMMAND gzip -9n ${pages} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${folder}/usr/share/zsh)
    file(RENAME ${folder}/usr/share/zsh/site-functions ${folder}/usr/share/zsh/vendor-completions)
  endif()
endforeach()
